"""The program of `damon/hot-range`, and what kdamond sees of it, window by window.

All of it is compiled, for the panel as well as for the experiment: both give it one record.
"""

import numpy as np

from lorelab.damon.model import memory, state
from lorelab.damon.model.kdamond import kdamond_start, kdamond_window
from lorelab.damon.model.memory import OWN, PATTERN, PHASE
from lorelab.damon.model.state import FILTER, GOAL, SCHEME
from lorelab.damon.params import Variant
from lorelab.damon.workload import masim
from lorelab.damon.workload.masim import MALLOC_HEADER, PROGRAM, STACK, VDSO
from lorelab.damon.workload.truth import weigh_beside_null
from lorelab.numerics import PAGE, U, njit

UNITS = {
    "nr_regions": "regions",
    "splits": "splits",
    "merges": "merges",
    "checks": "checks",
    "rate_error": "share",
    "rate_error_cold": "share",
    "misplaced": "bytes",
    "end": "s",
}
"""Counters of a window; `rate_error_cold` is the error of a report that nothing was accessed."""
DRAWN = ("kind", "since", "until", "low", "high", "rate")
"""Of what a chart draws: a region as it was reported, or the hot range, from one window to another,
in MiB of the program's memory; and a region's share of samples."""
REGION, HOT = 1.0, 2.0
"""Values of `kind`; 0 is a row of counters."""
FINE = 128
"""Of memory the smallest part that is drawn by itself; smaller regions are drawn together."""
COUNTING = len(UNITS)
MIB = 1 << 20

ATTRS = np.concatenate([state.damon_new_ctx((), variant=variant).info for variant in Variant])
"""What a variant does; the intervals and bounds are set for each run."""
LOOKS_US = np.array([variant.traits.update_us or 0 for variant in Variant])
"""Time between looks at the mappings, where the variant has its own."""
MACHINE = memory.new_pages(np.zeros(0, PATTERN), np.zeros(0, PHASE), ()).info
"""The machine that a model runs on which was told of none."""
ITS_OWN = np.array(masim.OWN, OWN)


@njit
def begin(p):
    """The program's memory and a context over it, and rows for what is seen.

    Parameters
    ----------
    p : record
        As `lorelab.flat.flat` makes it of `HotRange`.

    Returns
    -------
    ctx, pages : tuple
        Of the model.
    rows : (n, 14) float64 array
        `UNITS` and `DRAWN`: first a row for each window, then those that are drawn.
    """
    pages, ctx = _begun(p)
    return ctx, pages, np.zeros((p.windows * (FINE + 1) + 2, COUNTING + len(DRAWN)))


@njit
def window(p, ctx, pages, rows, used, number):
    """Watch for a window more, after `number` others, with so many rows `used`.

    Returns
    -------
    used : int
    moved : float
        When the hot range moved, in windows; 0 where it did not in this one.
    """
    attrs, run = ctx.info[0], pages.info[0]
    checks, samples = attrs.checks, attrs.passed_sample_intervals
    splits, merges, phase, began = attrs.splits, attrs.merges, run.phase, run.now
    reported = ctx.trace[: kdamond_window(ctx, pages)]
    seen, cold = weigh_beside_null(
        reported,
        float(p.aggr_us // p.sample_us),
        pages.truth,
        float(attrs.passed_sample_intervals - samples),
        run.base,
    )
    size = U(0)
    for region in reported:
        size += region.end - region.start
    row = rows[number]
    row[0] = len(reported)
    row[1] = attrs.splits - splits
    row[2] = attrs.merges - merges
    row[3] = attrs.checks - checks
    row[4] = seen.apart / float(size)
    row[5] = cold.apart / float(size)
    row[6] = seen.misplaced
    row[7] = float(run.now) / 1e9
    moved = 0.0
    if run.phase != phase and phase == U(0):
        moved = number + 1.0 - float(run.now - run.phase_began) / float(run.now - began)
    return _draw(rows, used, number, reported, _mapped(p), p), moved


@njit
def end(p, rows, used, moved):
    """The rows, with the hot range, which moved after so many windows; 0 if it never did."""
    ended = float(p.windows)
    used = _draw_hot(rows, used, 0.0, moved if moved else ended, p.hot_at_kib, p)
    if moved:
        used = _draw_hot(rows, used, moved, ended, p.then_at_kib, p)
    return rows[:used]


@njit
def _mapped(p):
    # Where malloc() maps the memory, a page larger for its header (`masim.starts`).
    return U(VDSO[0]) - (U(p.mib) << U(20)) - U(PAGE)


@njit
def _begun(p):
    # The program's memory, and a context over it.
    mapped = _mapped(p)
    patterns, phases = np.zeros(2, PATTERN), np.zeros(2, PHASE)
    for k in range(2):
        at = p.then_at_kib if k else p.hot_at_kib
        one, phase = patterns[k], phases[k]
        one.start = mapped + U(MALLOC_HEADER) + (U(at) << U(10))
        one.sz = U(p.hot_kib) << U(10)
        one.stride = PAGE
        one.probability = 1
        phase.begin, phase.end, phase.total_probability = k, k + 1, 1
        # The second lasts for longer than anybody watches.
        windows = 1000 * p.windows if k else p.windows // 2
        phase.time_ns = windows * p.aggr_us * 1000
    vmas = np.zeros((3, 3), np.uint64)
    vmas[0, 1], vmas[0, 2] = PROGRAM
    vmas[1, 1], vmas[1, 2] = mapped, VDSO[1]
    vmas[2, 1], vmas[2, 2] = STACK
    machine = MACHINE.copy()
    machine[0].random = U(p.seed)
    memory.set_tlb(machine, p.tlb, p.switch_us)
    none = np.zeros(0, np.uint8)
    pages = memory.lay_out(machine, patterns, ITS_OWN.copy(), phases, vmas, none, False, True, 0)
    attrs = ATTRS[p.variant : p.variant + 1].copy()
    attrs[0].random = U(p.seed)
    attrs[0].rand64 = p.rand64
    looks_us = LOOKS_US[p.variant] if LOOKS_US[p.variant] else p.update_us
    state.damon_set_attrs(attrs, p.sample_us, p.aggr_us, looks_us, p.min_regions, p.max_regions)
    random = np.zeros(4, np.uint32)
    state.seed_own_random(random, U(p.seed))
    ctx = state.lay_out(
        attrs,
        vmas,
        1,
        np.zeros(2, np.uint64),
        np.zeros(0, np.uint64),
        np.zeros(0, SCHEME),
        np.zeros(0, GOAL),
        np.zeros(0, FILTER),
        random,
    )
    kdamond_start(ctx, pages)
    return pages, ctx


@njit
def _draw(rows, used, number, reported, lowest, p):
    # Regions of the program's memory; neighbours until they are large enough to be seen.
    top = lowest + (U(p.mib) << U(20))
    samples = float(p.aggr_us // p.sample_us)
    low, hits, size = lowest, 0.0, U(0)
    for n in range(len(reported)):
        region = reported[n]
        start, end = max(region.start, lowest), min(region.end, top)
        if start >= end:
            continue
        if size == U(0):
            low = start
        size += end - start
        hits += float(region.nr_accesses) * float(end - start)
        if size * U(FINE) >= top - lowest or end == top:
            row = rows[used, COUNTING:]
            row[0], row[1], row[2] = REGION, number, number + 1
            row[3], row[4] = float(low - lowest) / MIB, float(end - lowest) / MIB
            row[5] = hits / float(size) / samples
            used += 1
            hits, size = 0.0, U(0)
    return used


@njit
def _draw_hot(rows, used, since, until, at_kib, p):
    row = rows[used, COUNTING:]
    row[0], row[1], row[2] = HOT, since, until
    row[3], row[4] = at_kib / 1024, (at_kib + p.hot_kib) / 1024
    return used + 1
