"""Places for one pointer more in a struct, what they cost packets, and the struct to be drawn."""

import pandas as pd

from lorelab.gso.experiments.layout import fields
from lorelab.gso.model.layout import (
    SMP_CACHE_BYTES,
    Layout,
    data_align,
    fits_receive_buffer,
    head_bytes,
    place,
    truesize,
)
from lorelab.gso.model.structs import DECLARED
from lorelab.gso.params import Layout as Params
from lorelab.gso.workload.layout import frag_lines

RMEM_DEFAULT = 212_992
"""net.core.rmem_default [bytes] where nobody changed it."""


def positions(kernel: str = "2014", struct: str = "shared-info") -> pd.DataFrame:
    """Every place for the pointer.

    Returns
    -------
    DataFrame
        One row a place: `before` (the field that follows), `size`, `aligned`, `holes` [bytes],
        and of skb_shared_info `frags1` (offset of frags[1]) and `lines` (cache lines with one
        fragment).
    """
    rows = []
    declared = DECLARED[kernel, struct]
    # The fragments are one array: nothing stands between them.
    named = [field.name for field in declared if "frags[" not in field.name]
    last = ["frags[0]"] if struct == "shared-info" else []
    for before in ["none", *named, *last, "end"]:
        layout = place(fields(Params(kernel=kernel, struct=struct, pointer=before)))
        row = {
            "before": before,
            "size": layout.size,
            "aligned": data_align(layout.size),
            "holes": sum(hole.size for hole in layout.holes),
        }
        if struct == "shared-info":
            row |= {"frags1": layout.offset("frags[1]"), "lines": frag_lines(layout)[1]}
        rows.append(row)
    return pd.DataFrame(rows)


def packets(
    sizes: range, before: int, after: int, sk_buff: int = 232, small_head: tuple[int, int] = (0, 0)
) -> pd.DataFrame:
    """What a larger shared info costs packets of every size.

    Parameters
    ----------
    sizes : range
        Linear bytes asked of `__alloc_skb()`: headroom, headers and data.
    before, after : int
        `sizeof(struct skb_shared_info)` [bytes].
    sk_buff : int
        `sizeof(struct sk_buff)` [bytes].
    small_head : (int, int)
        Cache of small heads before and after; zeros where there is none.

    Returns
    -------
    DataFrame
        By size: `before` and `after` (truesize of what `__alloc_skb()` gives), `frag_before` and
        `frag_after` (of a head cut from a page fragment, as `netdev_alloc_skb()` gives a driver),
        and `fit_before`, `fit_after`: packets that a UDP socket with the default buffer takes.
    """
    shared, small = (before, after), small_head
    rows = []
    for size in sizes:
        kmalloc = [
            truesize(size, s, sk_buff, cache) for s, cache in zip(shared, small, strict=True)
        ]
        cut = [data_align(size) + data_align(s) + data_align(sk_buff) for s in shared]
        fits = [fits_receive_buffer(bytes_, RMEM_DEFAULT) for bytes_ in kmalloc]
        rows.append((size, *kmalloc, *cut, *fits))
    columns = ["size", "before", "after", "frag_before", "frag_after", "fit_before", "fit_after"]
    return pd.DataFrame(rows, columns=columns)


def jumps(before: int, after: int, largest: int = 4096) -> pd.DataFrame:
    """Sizes whose head takes a larger bucket of kmalloc(), as ranges.

    Returns
    -------
    DataFrame
        `first`, `last` [bytes asked], `bucket_before`, `bucket_after` [bytes].
    """
    rows: list[list[int]] = []
    for size in range(1, largest + 1):
        old, new = head_bytes(size, before), head_bytes(size, after)
        if old == new:
            continue
        if rows and rows[-1][1] == size - 1 and rows[-1][2:] == [old, new]:
            rows[-1][1] = size
        else:
            rows.append([size, size, old, new])
    return pd.DataFrame(rows, columns=["first", "last", "bucket_before", "bucket_after"])


def cells(layout: Layout) -> pd.DataFrame:
    """The struct on its cache lines, to be drawn.

    Returns
    -------
    DataFrame
        One row for each part of a member on one cache line: `field`, `line`, `start`, `end` (bytes
        from the start of the line); holes are called so.
    """
    rows = []
    for field in sorted([*layout.fields, *layout.holes], key=lambda f: f.offset):
        start, end = field.offset, field.offset + field.size
        while start < end:
            line = start // SMP_CACHE_BYTES
            stop = min(end, (line + 1) * SMP_CACHE_BYTES)
            first = line * SMP_CACHE_BYTES
            rows.append((field.name, line, start - first, stop - first))
            start = stop
    return pd.DataFrame(rows, columns=["field", "line", "start", "end"])
