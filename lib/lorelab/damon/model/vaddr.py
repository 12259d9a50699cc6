"""Regions from a process' mappings: the first ones, and how they follow (Linux 6.12.117).

Functions of mm/damon/vaddr.c and, for `damon_set_regions()` and what it calls, mm/damon/core.c,
under their own names.
"""

from lorelab.damon.model.state import (
    DAMON_MIN_REGION,
    align_down,
    align_up,
    damon_destroy_region,
    damon_first_region,
    damon_insert_region,
    head_of,
)
from lorelab.numerics import ONE, ZERO, U, njit


@njit
def damon_va_three_regions(ctx, t, regions):
    """Cut the mappings of target `t` at their two largest gaps.

    Parameters
    ----------
    regions : (3, 2) uint64 array
        Receives start and end of the three ranges.

    Returns
    -------
    bool
        False where there are not two gaps, as -EINVAL in the kernel.
    """
    first_start = first_end = second_start = second_end = ZERO
    lowest = previous_end = ZERO
    seen = False
    for vma in ctx.vmas:
        if vma[0] != t:
            continue
        if not seen:
            lowest = vma[1]
            seen = True
        else:
            gap = vma[1] - previous_end
            if gap > first_end - first_start:
                second_start, second_end = first_start, first_end
                first_start, first_end = previous_end, vma[1]
            elif gap > second_end - second_start:
                second_start, second_end = previous_end, vma[1]
        previous_end = vma[2]
    if first_end == first_start or second_end == second_start:
        return False
    if first_start > second_start:
        first_start, second_start = second_start, first_start
        first_end, second_end = second_end, first_end
    regions[0, 0], regions[0, 1] = align_up(lowest), align_up(first_start)
    regions[1, 0], regions[1, 1] = align_up(first_end), align_up(second_start)
    regions[2, 0], regions[2, 1] = align_up(second_end), align_up(previous_end)
    return True


@njit
def damon_va_evenly_split_region(ctx, t, i, nr_pieces):
    """Cut region `i` into `nr_pieces` of one size; the last takes what rounding leaves over."""
    if nr_pieces == ZERO:
        return
    r = ctx.regions[i]
    orig_end = r.end
    sz_piece = align_down((r.end - r.start) // nr_pieces)
    if sz_piece == ZERO:
        return
    following = U(r.next)
    r.end = r.start + sz_piece
    start = r.end
    for _ in range(ONE, nr_pieces):
        i = damon_insert_region(ctx, t, start, start + sz_piece, following)
        start += sz_piece
    if nr_pieces > ONE:
        ctx.regions[i].end = orig_end


@njit
def damon_va_init_regions(ctx, t, regions):
    """Make the first regions of target `t`: about `min_nr_regions` pieces of three ranges."""
    if not damon_va_three_regions(ctx, t, regions):
        return
    sz = ZERO
    for k in range(3):
        sz += regions[k, 1] - regions[k, 0]
    sz = max(sz // ctx.info[0].min_nr_regions, DAMON_MIN_REGION)
    for k in range(3):
        i = damon_insert_region(ctx, t, regions[k, 0], regions[k, 1], head_of(ctx, t))
        damon_va_evenly_split_region(ctx, t, i, (regions[k, 1] - regions[k, 0]) // sz)


@njit
def damon_intersect(r, start, end):
    """Tell whether region record `r` and [start, end) have a byte in common."""
    return not (r.end <= start or end <= r.start)


@njit
def damon_fill_regions_holes(ctx, t, first, last):
    """Put a new region into every hole between regions `first` and `last`."""
    i = first
    while i != last:
        following = U(ctx.regions[i].next)
        end, start = ctx.regions[i].end, ctx.regions[following].start
        if end != start:
            damon_insert_region(ctx, t, end, start, following)
        i = following


@njit
def damon_set_regions(ctx, t, ranges):
    """Fit the regions of target `t` into `ranges`, keeping what is known about them.

    Parameters
    ----------
    ranges : (n, 2) uint64 array
        Start and end of each, sorted and disjoint.

    Returns
    -------
    bool
        False where the ranges are empty or out of order, as -EINVAL in the kernel.
    """
    last_end = ZERO
    for k in range(len(ranges)):
        start, end = align_down(ranges[k, 0]), align_up(ranges[k, 1])
        if start >= end or last_end > start:
            return False
        last_end = end
    head = head_of(ctx, t)
    i = damon_first_region(ctx, t)
    while i != head:
        following = U(ctx.regions[i].next)
        kept = False
        for k in range(len(ranges)):
            if damon_intersect(ctx.regions[i], ranges[k, 0], ranges[k, 1]):
                kept = True
        if not kept:
            damon_destroy_region(ctx, t, i)
        i = following
    i = damon_first_region(ctx, t)
    for k in range(len(ranges)):
        start, end = align_down(ranges[k, 0]), align_up(ranges[k, 1])
        first = last = head
        while i != head:
            if damon_intersect(ctx.regions[i], ranges[k, 0], ranges[k, 1]):
                if first == head:
                    first = i
                last = i
            if ctx.regions[i].start >= ranges[k, 1]:
                break
            i = U(ctx.regions[i].next)
        if first == head:
            damon_insert_region(ctx, t, start, end, i)
        else:
            ctx.regions[first].start = start
            ctx.regions[last].end = end
            damon_fill_regions_holes(ctx, t, first, last)
    return True


@njit
def damon_va_update(ctx):
    """Fit the regions to the mappings as they are now."""
    ranges = ctx.three_ranges
    for t in range(U(len(ctx.nr_regions))):
        if damon_va_three_regions(ctx, t, ranges):
            damon_set_regions(ctx, t, ranges)
