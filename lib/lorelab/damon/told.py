"""Regions against what the program says it did: one truth for model and kernel.

A program says when it began with another access pattern than before. From that the truth of a page
follows as a chance, the same for all pages of a region. The model knows each page that was touched
(`lorelab.damon.workload.observe`); a kernel does not. So where the two are compared the model, too,
is held against what its program says, by the same function.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon import masim as language
from lorelab.damon.model import kdamond_window
from lorelab.damon.pages import PAGE_SIZE
from lorelab.damon.params import Accuracy, Masim
from lorelab.damon.setting import configuration, context, memory
from lorelab.damon.state import U, njit
from lorelab.damon.workload import OBSERVED, figures, outside, weigh
from lorelab.errors import BadInput
from lorelab.params import label

PAGE = int(PAGE_SIZE)
AHEAD = 0.5
"""Share of kdamond's work that comes before the sleep, as in kdamond_window(): drawing and clearing
take 1.9 ms a sample of the kernel, looking 1.7, on stairs with each number and check logged."""


BUCKETS = np.unique(2 ** (np.arange(160) / 4) // 1).astype(np.int64)
"""Lowest sizes of `regions_by_size`, in pages: four to an octave."""
DISTRIBUTIONS = {
    "windows_by_sampled": "windows",
    "windows_by_regions": "windows",
    "regions_by_size": "regions",
    "regions_by_count": "regions",
    "regions_by_age": "regions",
}
"""What `distributions()` counts, and by what: a window's regions as they are sampled, and as they
are reported, merged by then; pages, accesses and age of a region reported."""


class Told(NamedTuple):
    """A program and DAMON's windows over it, on one clock in ns."""

    regions: np.ndarray  # (n, 2) u8: address and bytes of each of the program's regions
    truth: np.ndarray  # (n, 2) u8: when each access pattern came into use, and its number
    ended: int  # when the program was done
    windows: list[tuple[int, int, np.ndarray]]  # when each ended, its checks, SNAPSHOT rows


def spans(params: Masim) -> language.Config:
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
        As `lorelab.damon.workload.observe()`, `seconds` from the program's begin.

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


def distributions(params: Masim, said: Told) -> dict[str, pd.Series]:
    """Distributions of what is reported, over the windows that `observed()` looks at.

    Returns
    -------
    dict of Series
        By the names of `DISTRIBUTIONS`, how many there are, by value; of sizes by the lowest of a
        bucket.
    """
    samples = params.aggr_us // params.sample_us
    checks, traces = zip(*((checks, trace) for *_, checks, trace in _whole(said)), strict=True)
    regions = np.concatenate(traces)
    pages = ((regions["end"] - regions["start"]) // PAGE_SIZE).astype(np.int64)
    values = (
        np.array(checks) // samples,
        [len(trace) for trace in traces],
        BUCKETS[np.searchsorted(BUCKETS, pages, side="right") - 1],
        regions["nr_accesses"].astype(np.int64),
        regions["age"].astype(np.int64),
    )
    return {
        name: pd.Series(each).value_counts().sort_index()
        for name, each in zip(DISTRIBUTIONS, values, strict=True)
    }


def distribution_counters(
    runs: list[dict[str, pd.Series]], params: Accuracy, source: str
) -> pd.DataFrame:
    """Counters of `damon/accuracy` for the `distributions()` of all runs; a step a value."""
    parts = []
    for name, unit in DISTRIBUTIONS.items():
        total = pd.concat([run[name] for run in runs]).groupby(level=0).sum()
        found = {name: (unit, total.to_list())}
        part = counters.table("damon/accuracy", label(params.variant), source, found)
        parts.append(part.assign(step=total.index))
    return pd.concat(parts, ignore_index=True)


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


def model_figures(params: Accuracy, said: Told) -> dict[str, tuple[str, float]]:
    """Figures of `damon/accuracy` for one run of the model, by what its program says."""
    took = check_took(params, said)
    seen = observed(params, said, params.access_ns, took)
    worked_us = seen["checks"].sum() * took / 1e3
    samples = len(seen) * (params.aggr_us // params.sample_us)
    sleep_us = (seen["took"].sum() * 1e6 - worked_us) / samples
    speeds = params.access_ns, took, sleep_us
    return figures(seen, changes(params, said), params, *speeds)


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
    starts = language.starts(config)
    regions = [(starts[name], size) for name, size in config.regions.items()]
    ended = int(pages.info["phase_began"][0])
    said = pages.told[: int(pages.info["changes"][0]) + 1]
    return Told(np.array(regions, np.uint64), said, ended, windows)
