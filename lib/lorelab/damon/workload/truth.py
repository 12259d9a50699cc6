"""Regions against what the program says it did: one truth for model and kernel.

A program says when it began with another access pattern than before. From that the truth of a page
follows as a chance, the same for all pages of a region. The model knows each page that was touched
(`lorelab.damon.experiments.masim.observe`); a kernel does not. So where the two are compared the
model, too, is held against what its program says, by the same function.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.model.memory import PAGE_SIZE
from lorelab.damon.params import Masim, Speeds, took
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput
from lorelab.numerics import ONE, PAGE, U, njit
from lorelab.params import label

AHEAD = 0.5
"""Share of kdamond's work that comes before the sleep, as in kdamond_window(): drawing and clearing
take 1.9 ms a sample of the kernel, looking 1.7, on stairs with each number and check logged."""


HOT = 0.5
"""Share of the samples from which on a page or region counts as hot."""


class Weighed(NamedTuple):
    """What regions come to against the truth, in bytes."""

    wss: float
    """Working set: regions with an access."""
    true_wss: float
    apart: float
    """Sum of |estimate - truth|."""
    misplaced: float
    """Called hot by only one of the two."""
    hot: float
    """In truth."""
    hot_seen: float
    """The estimate's sum over those."""


class Observed(NamedTuple):
    """A window held against the truth; bytes where nothing else is said."""

    regions: int
    checks: int
    wss: float
    true_wss: float
    error: float
    """Mean of |estimate - truth| over all bytes monitored."""
    misplaced: float
    hot: float
    hot_seen: float
    seconds: float
    """When it ended."""
    took: float
    """How long it was, in seconds."""
    outside: int
    """Regions that have nothing of the program's."""

    @classmethod
    def of(cls, seen: Weighed, regions: np.ndarray, **more: float) -> Self:
        """A window of these regions, weighed."""
        error = seen.apart / float((regions["end"] - regions["start"]).sum())
        found = {name: value for name, value in seen._asdict().items() if name != "apart"}
        return cls(regions=len(regions), error=error, **found, **more)


class Window(NamedTuple):
    """A window as DAMON reports it."""

    end_ns: int
    checks: int
    regions: np.ndarray  # (n,) SNAPSHOT


class Observation(NamedTuple):
    """A program and DAMON's windows over it, on one clock in ns."""

    regions: np.ndarray  # (n, 2) u8: address and bytes of each of the program's regions
    truth: np.ndarray  # (n, 2) u8: when each access pattern came into use, and its number
    ended: int  # when the program was done
    windows: list[Window]

    @property
    def begun(self) -> int:
        """When the program began."""
        return int(self.truth[0, 0])


def spans(params: Masim) -> masim.Config:
    """The program of `params`, or BadInput where it does not say which pages it touches when."""
    config = configuration(params)
    for phase in config.phases:
        for access in phase.accesses:
            if access.random or access.stride > PAGE:
                raise BadInput(
                    f"workload={params.workload}: phase {phase.name!r} leaves pages out or to "
                    "chance, so its truth by page is known to the model only"
                )
    return config


def observed(params: Masim, observation: Observation, speeds: Speeds) -> pd.DataFrame:
    """Hold each window against what the program did in it.

    A page is in use in a sampling interval with the chance that the program gets to it while
    kdamond sleeps: the time that the program was at its region over that of a round of all pages.
    kdamond sleeps for what its checks leave of the window, the same in each sample. The window in
    which the program begins is left out, as it is watched before it does anything.

    Parameters
    ----------
    speeds : Speeds
        What an access of the program and a check of kdamond took.

    Returns
    -------
    DataFrame
        As `lorelab.damon.experiments.masim.observe()`, `seconds` from the program's begin.

    Raises
    ------
    BadInput
        No window is left.
    """
    config = spans(params)
    accesses = [access for phase in config.phases for access in phase.accesses]
    names = list(config.regions)
    of = np.array([names.index(access.region) for access in accesses])[observation.truth[:, 1]]
    base = int(observation.regions[:, 0].min()) & ~(PAGE - 1)
    top = int((observation.regions[:, 0] + observation.regions[:, 1]).max()) + PAGE - 1 & ~(
        PAGE - 1
    )
    began = observation.truth[:, 0].astype(np.int64)
    until = np.append(began[1:], observation.ended)
    samples = params.samples
    strides = {access.region: access.stride for access in accesses}
    rounds = np.array(
        [
            [speeds.access_ns * size / strides.get(name, PAGE)]
            for name, size in config.regions.items()
        ]
    )
    watched = list(whole(observation))
    if not watched:
        lasted = (observation.ended - observation.begun) / 1e9
        raise BadInput(
            f"aggr_us={params.aggr_us}: no window begins and ends in the {lasted:.1f} s that the "
            "program played; takes a shorter one, or a longer program"
        )
    starts, windows = zip(*watched, strict=True)
    starts = np.array(starts)
    ends = np.array([window.end_ns for window in windows])
    checks = np.array([window.checks for window in windows])
    each = np.array([len(window.regions) for window in windows])
    worked = checks * speeds.check_ns / samples
    slept = np.maximum((ends - starts) / samples - worked, 0)
    begins = np.linspace(starts, ends, samples, endpoint=False, axis=1) + (worked * AHEAD)[:, None]
    spent = _spent(began, until, of, begins, slept, len(names))
    chances = np.minimum(spent / rounds, 1).sum(axis=2)
    regions = np.concatenate([window.regions for window in windows])
    firsts = np.append(0, each.cumsum())
    found = _weigh_each(
        regions, firsts, chances, observation.regions, float(samples), U(base), U(top)
    )
    seen = pd.DataFrame(found, columns=Weighed._fields)
    sizes = np.add.reduceat(regions["end"] - regions["start"], firsts[:-1])
    away = (regions["end"] <= U(base)) | (regions["start"] >= U(top))
    return seen.assign(
        regions=each,
        checks=checks,
        error=seen["apart"] / sizes.astype(float),
        seconds=(ends - observation.begun) / 1e9,
        took=(ends - starts) / 1e9,
        outside=np.add.reduceat(away.astype(np.int64), firsts[:-1]),
    )[list(Observed._fields)]


def whole(observation: Observation) -> Iterator[tuple[int, Window]]:
    """Windows that were monitored while the program ran, each with when it began (ns)."""
    start = -1
    for window in observation.windows:
        if observation.begun <= start and window.end_ns <= observation.ended:
            yield start, window
        start = window.end_ns


@njit
def _spent(began, until, of, begins, slept, regions):
    # Time that the program was at each region while kdamond slept, by window and sample.
    spent = np.zeros((len(begins), regions, begins.shape[1]))
    for w in range(len(begins)):
        for k in range(np.searchsorted(until, begins[w, 0]), len(began)):
            if began[k] >= begins[w, -1] + slept[w]:
                break
            for n in range(begins.shape[1]):
                both = min(until[k], begins[w, n] + slept[w]) - max(began[k], begins[w, n])
                spent[w, of[k], n] += max(both, 0.0)
    return spent


@njit
def _weigh_each(regions, firsts, chances, programs, samples, base, top):
    # A row a window, as `weigh()` gives it.
    found = np.empty((len(chances), 6))
    nr = (top - base) // PAGE_SIZE
    first = (programs[:, 0] - base) // PAGE_SIZE
    after = (programs[:, 0] + programs[:, 1] - ONE - base) // PAGE_SIZE + ONE
    edges = np.unique(np.append(first, after))
    for w in range(len(chances)):
        steps = np.zeros(len(edges))
        for n in range(len(programs)):
            steps[np.searchsorted(edges, first[n])] += chances[w, n]
            steps[np.searchsorted(edges, after[n])] -= chances[w, n]
        new = steps != 0.0
        own = regions[firsts[w] : firsts[w + 1]]
        seen = _weigh(own, samples, edges[new], steps[new], nr, samples, base)
        for n in range(6):
            found[w, n] = seen[n]
    return found


def changes(params: Masim, observation: Observation) -> list[float]:
    """Seconds from the program's begin to each phase but the first."""
    firsts = np.cumsum([0, *(len(phase.accesses) for phase in spans(params).phases)])
    phase = np.searchsorted(firsts, observation.truth[:, 1], side="right") - 1
    new = np.flatnonzero(np.diff(phase)) + 1
    return [(int(at) - observation.begun) / 1e9 for at in observation.truth[new, 0]]


@njit
def weigh(regions, full, truth, samples, base):
    """Hold the regions of a window against the truth.

    Parameters
    ----------
    regions : (n,) SNAPSHOT array
    full : float
        Count of a region that is always accessed.
    truth : (pages + 1,) float64 array
        Differences, as `account_truth()` leaves them; zeroed for the next window.
    samples : float
        Intervals that went into `truth`.

    Returns
    -------
    Weighed
    """
    edges, steps = _taken(truth)
    nr = U(len(truth)) - ONE
    return _weigh(regions, full, edges, steps, nr, samples, base)


@njit
def weigh_beside_null(regions, full, truth, samples, base):
    """The same, and what the same regions come to if all are reported as cold."""
    edges, steps = _taken(truth)
    nr = U(len(truth)) - ONE
    cold = regions.copy()
    for k in range(len(cold)):
        cold[k].nr_accesses = 0
    return (
        _weigh(regions, full, edges, steps, nr, samples, base),
        _weigh(cold, full, edges, steps, nr, samples, base),
    )


@njit
def _taken(truth):
    # Where the truth changes, and by how much; it is zeroed for the next window.
    edges = np.nonzero(truth)[0]
    steps = truth[edges]
    truth[edges] = 0.0
    return edges.astype(np.uint64), steps


@njit
def _weigh(regions, full, edges, steps, nr, samples, base):
    # `steps`: how the truth of the pages from each of `edges` on differs from the one before; `nr`
    # pages.
    wss = true_wss = apart = misplaced = hot = hot_seen = 0.0
    running = 0.0
    for k in range(len(regions)):
        rate = min(regions[k].nr_accesses / full, 1.0)
        size = float(regions[k].end - regions[k].start)
        if rate > 0.0:
            wss += size
        low, high = max(regions[k].start, base), max(regions[k].end, base)
        page = (low - base) // PAGE_SIZE
        stop = min(page + (high - low + PAGE_SIZE - ONE) // PAGE_SIZE, nr)
        inside = 0.0
        while page < stop:
            # Pages up to the next edge are all alike.
            edge = np.searchsorted(edges, page)
            if edge < len(edges) and edges[edge] == page:
                running += steps[edge]
                edge += 1
            following = min(edges[edge], stop) if edge < len(edges) else stop
            alike = float(PAGE) * float(following - page)
            page = following
            true = min(max(running / samples, 0.0), 1.0)
            true_wss += alike if true > 1e-9 else 0.0
            apart += abs(rate - true) * alike
            misplaced += alike if (rate >= HOT) != (true >= HOT) else 0.0
            if true >= HOT:
                hot += alike
                hot_seen += alike * rate
            inside += alike
        apart += (size - inside) * rate
        misplaced += size - inside if rate >= HOT else 0.0
    return Weighed(wss, true_wss, apart, misplaced, hot, hot_seen)


def outside(regions: np.ndarray, low: int, high: int) -> int:
    """Count the regions that have no byte of [low, high), the program's own regions."""
    return int(((regions["end"] <= U(low)) | (regions["start"] >= U(high))).sum())


def masim_counters(seen: pd.DataFrame, params: Masim, source: str, speeds: Speeds) -> pd.DataFrame:
    """Counters of `damon/masim` for windows as `observe()` gives them, and the machine's speeds."""
    said = {
        "nr_regions": ("regions", seen["regions"]),
        "outside": ("regions", seen["outside"]),
        "checks": ("checks", seen["checks"]),
        "wss": ("bytes", seen["wss"]),
        "true_wss": ("bytes", seen["true_wss"]),
        "rate_error": ("share", seen["error"]),
        "misplaced": ("bytes", seen["misplaced"]),
        "hot": ("bytes", seen["hot"]),
        "hot_seen": ("bytes", seen["hot_seen"]),
        "end": ("s", seen["seconds"]),
    }
    once = took(speeds, ("access", "check", "sleep")).items()
    said |= {name: (unit, [value]) for name, (unit, value) in once}
    return counters.table("damon/masim", label(params.variant), source, said)
