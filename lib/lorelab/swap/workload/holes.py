"""The device of `swap/holes`: filled, with holes punched into it, and three allocators that search.

All of it is compiled, for the panel as well as for the experiment: both give it one record.

The caches of slots are off: what is filled and freed is what the map shows, and each folio asks
the device itself.
"""

import numpy as np

from lorelab.numerics import GOLDEN, ONE, ZERO, U, njit, outline, splitmix64
from lorelab.params import label
from lorelab.swap.model.state import SWAP_IN_USE, SWAP_MAP_BAD, SWAPFILE_CLUSTER, setup
from lorelab.swap.model.swap_slots import folio_alloc_swap, free_swap_and_cache_nr
from lorelab.swap.params import AllocMode, Variant

ALLOCATORS = (Variant.V6_10, Variant.V6_12, Variant.V7_2)
UNITS = {
    f"{counter}_{label(variant)}": unit
    for variant in ALLOCATORS
    for counter, unit in (("slot", "slot"), ("visited", "clusters"), ("read", "slots"))
}
"""Counters of a folio that asks: the slot that it got, 0 if none, for slot 0 holds the header;
clusters looked into; and slots read."""
DRAWN = (
    "kind", "allocator", "cluster", "since", "until", "taken", "order", "folio", "visited", "read",
)  # fmt: skip
"""Of what a chart draws, in slots of a cluster: 64 KiB and how much of it is taken; what the last
folio read of a cluster; what a folio got; and what the last one got, at `since`, and cost."""
CELL, LOOK, GOT, LAST = 1, 2, 3, 4
"""Values of `kind`; 0 is a row of counters."""
CELL_SLOTS = 16
COUNTING = len(UNITS)
EACH = 3
"""Counters of an allocator."""
VARIANTS = np.array(ALLOCATORS, np.int64)
UPSTREAM = int(AllocMode.UPSTREAM)
CLUSTER = int(SWAPFILE_CLUSTER)
CELLS = CLUSTER // CELL_SLOTS
SPREAD = U(0xD1342543DE82EF95)
"""Seeds that follow each other must not draw the same numbers one place on."""


@njit
def rows_of(p):
    """Rows for what is seen: one for each folio that asks, then those that are drawn."""
    looks, drawn = _looks(p), p.clusters * CELLS + p.folios + 1
    return np.zeros((p.folios + len(VARIANTS) * (looks + drawn), COUNTING + len(DRAWN)), np.int64)


@njit
def _looks(p):
    # The current cluster, each that is listed, and each once more.
    return 2 * p.clusters + 2


@njit
def watch(p, rows, used, n):
    """Fill a device, punch holes and let folios ask, under allocator `n` of `ALLOCATORS`.

    Parameters
    ----------
    p : record
        As `lorelab.flat.flat` makes it of `Holes`.
    rows : (n, 19) int64 array
        `UNITS` and `DRAWN`.
    used : int
        Rows that are written.

    Returns
    -------
    int
        Rows that are written now.
    """
    si = setup(
        p.clusters * CLUSTER, VARIANTS[n], 1, False, False, True, False, True, UPSTREAM, _looks(p)
    )
    order = U(p.order)
    _fill(si, p)
    _punch(si, p)
    used = _draw_cells(si, p, rows, used, n)
    for folio in range(p.folios):
        scanned = si.scanned[order]
        si.visited[order] = ZERO
        found = _ask(si, order)
        row = rows[folio, EACH * n : EACH * (n + 1)]
        row[0], row[1], row[2] = found, si.visited[order], si.scanned[order] - scanned
        if found:
            used = _draw(rows, used, GOT, n, found, found + (U(1) << order), folio)
        if folio == p.folios - 1:
            used = _draw_looks(si, p, rows, used, n, found)
            last = rows[used, COUNTING:]
            last[0], last[1], last[2], last[3] = LAST, n, p.clusters, found
            last[8], last[9] = row[1], row[2]
            used += 1
    return used


@outline
def _ask(si, order):
    return folio_alloc_swap(si, ZERO, order)


@outline
def _free(si, offset, nr_pages):
    free_swap_and_cache_nr(si, ZERO, offset, nr_pages)


@njit
def _fill(si, p):
    # The first cluster, which has the header, gives no folio a range in any of the three; so it
    # and the last ones are left to single pages.
    of_folios = (p.clusters - 1 - p.small_clusters) * CLUSTER >> p.fill_order
    for _ in range(of_folios):
        _ask(si, U(p.fill_order))
    while _ask(si, ZERO):
        pass


@njit
def _punch(si, p):
    places = (p.clusters * CLUSTER - p.shift) // p.hole - 1
    place = np.arange(1, places + 1)
    for i in range(p.holes):
        if p.placed:
            at = 1 + i * places // p.holes
        else:
            drawn = splitmix64(U(p.seed) * SPREAD + U(i + 1) * GOLDEN) % U(places - i)
            k = i + np.int64(drawn)
            at = place[k]
            place[k] = place[i]
        _free(si, U(at * p.hole + p.shift), U(p.hole))
    # The reader's own holes may lie on others, and end with the device.
    for begin in p.punched:
        if begin >= p.clusters * CLUSTER:
            raise ValueError
        for slot in range(begin, min(begin + p.hole, p.clusters * CLUSTER)):
            if begin and si.swap_map[slot] == SWAP_IN_USE:
                _free(si, U(slot), ONE)


@njit
def _draw_cells(si, p, rows, used, n):
    for cell in range(p.clusters * CELLS):
        taken = 0
        for slot in range(cell * CELL_SLOTS, (cell + 1) * CELL_SLOTS):
            held = si.swap_map[slot]
            taken += held in (SWAP_IN_USE, SWAP_MAP_BAD)
        at = U(cell * CELL_SLOTS)
        used = _draw(rows, used, CELL, n, at, at + U(CELL_SLOTS), 0)
        row = rows[used - 1, COUNTING:]
        row[5], row[6] = taken, si.cluster_info[at // SWAPFILE_CLUSTER].order
    return used


@njit
def _draw_looks(si, p, rows, used, n, got):
    # Each of the three reads on to the cluster's end, unless it finds a range, or sees by the count
    # that it has too few free slots.
    looks = np.int64(si.visited[U(p.order)])
    for k in range(looks):
        at, before = U(si.trail[k].offset), U(si.trail[k].scanned)
        after = U(si.trail[k + 1].scanned) if k + 1 < looks else si.scanned[U(p.order)]
        until = at
        if after > before:
            until = (at // SWAPFILE_CLUSTER + ONE) * SWAPFILE_CLUSTER
            if got and got // SWAPFILE_CLUSTER == at // SWAPFILE_CLUSTER:
                until = got + (ONE << U(p.order))
        used = _draw(rows, used, LOOK, n, at, until, k)
        rows[used - 1, COUNTING + 9] = after - before
    return used


@njit
def _draw(rows, used, kind, n, since, until, folio):
    # Slots from one to before another, of one cluster.
    row = rows[used, COUNTING:]
    row[0], row[1], row[2] = kind, n, since // SWAPFILE_CLUSTER
    row[3] = since % SWAPFILE_CLUSTER
    row[4] = row[3] + np.int64(until - since)
    row[7] = folio
    return used + 1
