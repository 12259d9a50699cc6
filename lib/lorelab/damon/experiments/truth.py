"""Regions against what the program says it did: one truth for model and kernel.

A program says when it began with another access pattern than before. From that the truth of a page
follows as a chance, the same for all pages of a region. The model knows each page that was touched
(`lorelab.damon.experiments.masim.observe`); a kernel does not. So where the two are compared the
model, too, is held against what its program says, by the same function.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon.model.core import kdamond_window
from lorelab.damon.model.memory import PAGE_SIZE
from lorelab.damon.model.state import ONE, U, njit
from lorelab.damon.params import Masim
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.errors import BadInput

PAGE = int(PAGE_SIZE)
AHEAD = 0.5
"""Share of kdamond's work that comes before the sleep, as in kdamond_window(): drawing and clearing
take 1.9 ms a sample of the kernel, looking 1.7, on stairs with each number and check logged."""


class Told(NamedTuple):
    """A program and DAMON's windows over it, on one clock in ns."""

    regions: np.ndarray  # (n, 2) u8: address and bytes of each of the program's regions
    truth: np.ndarray  # (n, 2) u8: when each access pattern came into use, and its number
    ended: int  # when the program was done
    windows: list[tuple[int, int, np.ndarray]]  # when each ended, its checks, SNAPSHOT rows


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


def observed(params: Masim, said: Told, access_ns: float, check_ns: float) -> pd.DataFrame:
    """Hold each window against what the program did in it.

    A page is in use in a sampling interval with the chance that the program gets to it while
    kdamond sleeps: the time that the program was at its region over that of a round of all pages.
    kdamond sleeps for what its checks leave of the window, the same in each sample. The window in
    which the program begins is left out, as it is watched before it does anything.

    Parameters
    ----------
    access_ns, check_ns : float
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
    of = np.array([names.index(access.region) for access in accesses])[said.truth[:, 1]]
    base = int(said.regions[:, 0].min()) & ~(PAGE - 1)
    top = int((said.regions[:, 0] + said.regions[:, 1]).max()) + PAGE - 1 & ~(PAGE - 1)
    begun = int(said.truth[0, 0])
    began = said.truth[:, 0].astype(np.int64)
    until = np.append(began[1:], said.ended)
    samples = params.aggr_us // params.sample_us
    strides = {access.region: access.stride for access in accesses}
    rounds = np.array(
        [[access_ns * size / strides.get(name, PAGE)] for name, size in config.regions.items()]
    )
    truth, out, rows = np.zeros((top - base) // PAGE + 1), np.zeros(6), []
    spent = np.zeros((len(names), samples))
    for start, end, checks, trace in _whole(said):
        worked = checks * check_ns / samples
        slept = max((end - start) / samples - worked, 0)
        begins = np.linspace(start, end, samples, endpoint=False) + worked * AHEAD
        _spend(began, until, of, begins, slept, spent)
        chances = np.minimum(spent / rounds, 1).sum(axis=1)
        for region in np.flatnonzero(chances):
            at, size = said.regions[region].tolist()
            truth[at // PAGE - base // PAGE] += chances[region]
            truth[(at + size - 1) // PAGE + 1 - base // PAGE] -= chances[region]
        weigh(trace, len(trace), float(samples), truth, float(samples), U(base), out)
        error = out[2] / float((trace["end"] - trace["start"]).sum())
        seconds, took = (end - begun) / 1e9, (end - start) / 1e9
        beside = outside(trace, base, top)
        rows.append((len(trace), checks, out[0], out[1], error, *out[3:], seconds, took, beside))
    if not rows:
        raise BadInput(
            f"aggr_us={params.aggr_us}: no window begins and ends in the "
            f"{(said.ended - begun) / 1e9:.1f} s that the program played; takes a shorter one, or "
            "a longer program"
        )
    return pd.DataFrame(rows, columns=OBSERVED)


def _whole(said: Told) -> Iterator[tuple[int, int, int, np.ndarray]]:
    # Begin, end, checks and regions of each window that was monitored while the program ran.
    start, begun = -1, int(said.truth[0, 0])
    for end, checks, trace in said.windows:
        if begun <= start and end <= said.ended:
            yield start, end, checks, trace
        start = end


@njit
def _spend(began, until, of, begins, slept, spent):
    # Time that the program was at each region while kdamond slept, by sample.
    spent[:] = 0.0
    for k in range(np.searchsorted(until, begins[0]), len(began)):
        if began[k] >= begins[-1] + slept:
            break
        for n in range(len(begins)):
            both = min(until[k], begins[n] + slept) - max(began[k], begins[n])
            spent[of[k], n] += max(both, 0.0)


def changes(params: Masim, said: Told) -> list[float]:
    """Seconds from the program's begin to each phase but the first."""
    begun = int(said.truth[0, 0])
    firsts = np.cumsum([0, *(len(phase.accesses) for phase in spans(params).phases)])
    phase = np.searchsorted(firsts, said.truth[:, 1], side="right") - 1
    new = np.flatnonzero(np.diff(phase)) + 1
    return [(int(at) - begun) / 1e9 for at in said.truth[new, 0]]


def modelled(params: Masim) -> pd.DataFrame:
    """Run a program to its end on the model, and hold it against what it says; see `observed()`."""
    said = simulated(params)
    return observed(params, said, params.access_ns, check_took(params, said))


def check_took(params: Masim, said: Told) -> float:
    """What a check took in the model (ns), as a kernel's run has it: all work by its checks."""
    checks = sum(checks for _, checks, _ in said.windows)
    samples = len(said.windows) * (params.aggr_us // params.sample_us)
    return params.check_ns + params.sample_ns * samples / checks


def simulated(params: Masim) -> Told:
    """What a program says and DAMON reports of it, in the model."""
    config = configuration(params)
    pages = memory(params, config, told=True)
    ctx = context(params, pages)
    windows, before = [], 0
    while int(pages.info["phase"][0]) < len(pages.phases):
        n = kdamond_window(ctx, pages, U(params.check_ns))
        checks = int(ctx.info["checks"][0])
        windows.append((int(pages.info["now"][0]), checks - before, ctx.trace[:n].copy()))
        before = checks
    starts = masim.starts(config)
    regions = [(starts[name], size) for name, size in config.regions.items()]
    ended = int(pages.info["phase_began"][0])
    said = pages.told[: int(pages.info["changes"][0]) + 1]
    return Told(np.array(regions, np.uint64), said, ended, windows)


HOT = 0.5
"""Share of the samples from which on a page or region counts as hot."""

OBSERVED = [
    "regions",
    "checks",
    "wss",
    "true_wss",
    "error",
    "misplaced",
    "hot",
    "hot_seen",
    "seconds",
    "took",
    "outside",
]


@njit
def weigh(trace, n, full, truth, samples, base, out):
    """Hold the regions of a window against the truth.

    Parameters
    ----------
    trace : SNAPSHOT array
        Its first `n` rows are the regions.
    full : float
        Count of a region that is always accessed.
    truth : (pages + 1,) float64 array
        Differences, as `account_truth()` leaves them; zeroed for the next window.
    samples : float
        Intervals that went into `truth`.
    out : (6,) float64 array
        Receives estimated and true working set, the sum over bytes of |estimate - truth|, bytes
        that only one of the two calls hot, bytes that are hot in truth, and the estimate's sum
        over those.
    """
    out[:] = 0.0
    nr = U(len(truth)) - ONE
    running = 0.0
    for k in range(n):
        rate = min(trace[k].nr_accesses / full, 1.0)
        size = float(trace[k].end - trace[k].start)
        if rate > 0.0:
            out[0] += size
        low, high = max(trace[k].start, base), max(trace[k].end, base)
        page = (low - base) // PAGE_SIZE
        stop = min(page + (high - low + PAGE_SIZE - ONE) // PAGE_SIZE, nr)
        inside = 0.0
        while page < stop:
            running += truth[page]
            # Pages up to the next difference are all alike.
            following = page + ONE
            while following < stop and truth[following] == 0.0:
                following += ONE
            alike = 4096.0 * float(following - page)
            page = following
            true = min(max(running / samples, 0.0), 1.0)
            out[1] += alike if true > 1e-9 else 0.0
            out[2] += abs(rate - true) * alike
            out[3] += alike if (rate >= HOT) != (true >= HOT) else 0.0
            if true >= HOT:
                out[4] += alike
                out[5] += alike * rate
            inside += alike
        out[2] += (size - inside) * rate
        out[3] += size - inside if rate >= HOT else 0.0
    truth[:] = 0.0


def outside(trace: np.ndarray, low: int, high: int) -> int:
    """Count the regions that have no byte of [low, high), the program's own regions."""
    return int(((trace["end"] <= U(low)) | (trace["start"] >= U(high))).sum())
