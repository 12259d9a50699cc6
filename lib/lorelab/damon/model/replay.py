"""A kernel's own windows, one after the other, and what the model makes of the same numbers.

What is given: every random number and what each access check found, in the state that the model
begins with; with schemes also the clock, and the free memory at each look. What is not: which
regions there are, which of them merge and split, and what is tried on them.

The loops are Python's: what they call is compiled, and takes nearly all of the time.
"""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import NamedTuple

import numpy as np

from lorelab.damon.model import core, kdamond
from lorelab.damon.model.damos import HZ, INITIAL_JIFFIES
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.state import Damon, sampling_addrs

NO_LOOK = (0, False)


class Window(NamedTuple):
    """What the model has at the end of a window."""

    nr_regions: int
    merges: int
    """So far, as `splits`."""
    splits: int
    equal: bool
    """Whether all regions are the kernel's, in start, end, count and age."""
    addresses: list[np.ndarray]
    """Sampled in it, (regions,) u8 of each sample; none with schemes."""
    rested: bool
    """Whether schemes rested at the same looks as in the kernel."""


def follow(ctx: Damon, pages: Pages, windows: Iterable[np.ndarray]) -> Iterator[Window]:
    """Let the model go through each window.

    Parameters
    ----------
    ctx, pages
        The model as monitoring begins, with the log's random numbers and checks.
    windows : iterable of (regions,) SNAPSHOT
        What the kernel reported of each.

    Raises
    ------
    ValueError
        The model asks for more numbers or checks than there are.
    """
    addresses = np.zeros(len(ctx.regions), np.uint64)
    for regions in windows:
        n, sampled = -1, []
        while n < 0:
            # The checks are given, so no program has to run in between.
            kdamond.kdamond_prepare(ctx, pages)
            sampled.append(addresses[: sampling_addrs(ctx, addresses)].copy())
            ctx.info["now"] += ctx.info["sample_interval"]
            n = kdamond.kdamond_check(ctx, pages)
        yield _window(ctx, n, regions, sampled, True)
    _check_fed(ctx, pages)


def follow_schemes(
    ctx: Damon,
    pages: Pages,
    windows: Iterable[tuple[np.ndarray, int, list[tuple[int, bool]]]],
) -> Iterator[Window]:
    """Let 6.12's kdamond go through each window with schemes; otherwise as `follow`.

    Parameters
    ----------
    ctx, pages
    windows : iterable of tuple
        Of each the kernel's regions, its jiffies, and the looks at watermarks: free memory
        [thousandths], and whether schemes rest for it.
    """
    for regions, jiffies, looks in windows:
        ctx.info["now"] = (jiffies - int(INITIAL_JIFFIES)) * (1_000_000 // int(HZ))
        n, rested = -1, True
        for free, rests in looks or repeat(NO_LOOK):
            pages.info["free_mem_rate"] = free
            wait = int(core.kdamond_prepare(ctx, pages))
            rested = rested and bool(wait) == rests
            n = n if wait else core.kdamond_check(ctx, pages)
            if n >= 0:
                break
        yield _window(ctx, n, regions, [], rested)
    _check_fed(ctx, pages)


def _window(
    ctx: Damon, n: int, regions: np.ndarray, addresses: list[np.ndarray], rested: bool
) -> Window:
    merges, splits = (int(ctx.info[name][0]) for name in ("merges", "splits"))
    equal = n == len(regions) and bool((ctx.trace[:n] == regions).all())
    return Window(n, merges, splits, equal, addresses, rested)


def _check_fed(ctx: Damon, pages: Pages) -> None:
    if starved := int(ctx.info["starved"][0]) + int(pages.info["starved"][0]):
        raise ValueError(f"the model asked for {starved} numbers or checks more than were logged")
