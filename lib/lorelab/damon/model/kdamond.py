"""kdamond and the program that it watches, together; and which kernel's kdamond a context has.

The functions of `lorelab.damon.model.core`, of 6.12, or, where the context says so, those of
`lorelab.damon.model.v7_3`, of 7.3.4.
"""

from lorelab.damon.model import core, v7_3
from lorelab.damon.model.madvise import fault_in, khugepaged
from lorelab.damon.model.program import account_truth, play
from lorelab.damon.model.scheduler import slept, work
from lorelab.numerics import TWO, U, njit


@njit
def kdamond_start(ctx, pages):
    """Begin as kdamond_fn() does."""
    if ctx.info[0].v7_3:
        v7_3.kdamond_start(ctx, pages)
    else:
        core.kdamond_start(ctx, pages)


@njit
def kdamond_prepare(ctx, pages):
    """Do the part of a loop of kdamond_fn() before the sleep, and return us to wait instead."""
    if ctx.info[0].v7_3:
        return v7_3.kdamond_prepare(ctx, pages)
    return core.kdamond_prepare(ctx, pages)


@njit
def kdamond_check(ctx, pages):
    """Do the part of a loop of kdamond_fn() after the sleep, and return regions reported, or -1."""
    if ctx.info[0].v7_3:
        return v7_3.kdamond_check(ctx, pages)
    return core.kdamond_check(ctx, pages)


@njit
def kdamond_window(ctx, pages):
    """Let program and kdamond run until a window has ended.

    Half of kdamond's work for a region and sample (`pages.info.check_ns`) comes before the sleep,
    to draw a page and clear its bit, half after, to look at it; and so `pages.info.sample_ns`,
    which is the same for any number of regions. The real sampling interval is longer by that much
    (mm/damon/core.c sleeps `sample_interval` between preparing and checking, whatever those took).
    With a CPU to itself the program runs on meanwhile. The kernel goes from region to region, so
    there a region's interval is the sleep and as much of the work as lies between its two turns;
    here all bits are cleared as preparing begins, and looked at as checking begins.

    Parameters
    ----------
    ctx : Damon
    pages : Pages

    Returns
    -------
    int64
        Regions in `ctx.trace`.
    """
    info = ctx.info[0]
    aggregated = -1
    while aggregated < 0:
        wait = kdamond_prepare(ctx, pages)
        if wait:
            play(pages, slept(pages.info[0], wait * U(1000)))
            info.now = pages.info[0].now // U(1000)
            continue
        busy = ctx.nr_regions.sum() * pages.info[0].check_ns + pages.info[0].sample_ns
        work(pages, busy // TWO)
        play(pages, slept(pages.info[0], info.sample_interval * U(1000)))
        account_truth(pages)
        fault_in(pages)
        info.now = pages.info[0].now // U(1000)
        before = pages.info[0].acted_ns
        aggregated = kdamond_check(ctx, pages)
        acted = pages.info[0].acted_ns - before
        info.work_ns += busy + acted
        work(pages, busy - busy // TWO + acted)
        info.now = pages.info[0].now // U(1000)
        khugepaged(pages)
    return aggregated
