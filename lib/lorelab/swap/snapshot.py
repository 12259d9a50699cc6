"""What each stretch of a swap area holds, as a table: the data behind the cluster map."""

import numpy as np
import pandas as pd

from lorelab.swap.clusters import SWAP_MAP_BAD, SWAPFILE_CLUSTER, Swap

CLUSTER = int(SWAPFILE_CLUSTER)
FREE, SET_ASIDE = -1, 10
"""Beside the orders 0 to 9: free; taken and held by no folio."""


def kinds(si: Swap, folios: np.ndarray | None = None) -> np.ndarray:
    """What each slot holds.

    Parameters
    ----------
    si : Swap
    folios : (slots,) array of int, optional
        Order of the folio in each slot, -1 for none. Without it, a taken slot counts as the order
        of its cluster, which a slot that order 0 stole is not.

    Returns
    -------
    (slots,) int8 array
        An order, FREE, or SET_ASIDE: the header, slots that RFC v1 and v2 reserve, and, where
        `folios` are given, slots in the per-CPU caches.
    """
    taken = si.swap_map != 0
    if folios is None:
        clusters = len(si.swap_map) // CLUSTER
        folios = np.repeat(si.cluster_info["order"][:clusters].astype(np.int8), CLUSTER)
    held = np.where(folios < 0, SET_ASIDE, folios)
    held[si.swap_map == SWAP_MAP_BAD] = SET_ASIDE
    return np.where(taken, held, FREE).astype(np.int8)


def name(kind: int) -> str:
    """`order 4`, `free`, or `set aside`."""
    return {FREE: "free", SET_ASIDE: "set aside"}.get(kind, f"order {kind}")


def cluster_map(si: Swap, folios: np.ndarray | None = None, cell: int = 16) -> pd.DataFrame:
    """Lay out a swap area as runs of equal cells.

    Parameters
    ----------
    si : Swap
    folios : (slots,) array of int, optional
        As in `kinds`.
    cell : int
        Slots a cell; 16 is one aligned 64 KiB, so a cell that is not free has no room for a
        64 KiB folio.

    Returns
    -------
    DataFrame
        One row a run: `cluster`, `slot` (first, counted in the cluster), `slots`, `holds` (what
        most of the taken slots of each cell hold, by `name`) and `taken` [%] (of the slots,
        rounded up to a quarter).
    """
    by_cell = kinds(si, folios).reshape(-1, cell)
    count = np.stack([(by_cell == kind).sum(axis=1) for kind in range(SET_ASIDE + 1)])
    taken = count.sum(axis=0)
    holds = np.where(taken > 0, count.argmax(axis=0), FREE)
    quarters = -(-4 * taken // cell)
    per_cluster = CLUSTER // cell
    number = np.arange(len(holds))
    starts = np.ones(len(holds), bool)
    starts[1:] = (np.diff(holds) != 0) | (np.diff(quarters) != 0)
    starts[::per_cluster] = True
    first = number[starts]
    return pd.DataFrame(
        {
            "cluster": first // per_cluster,
            "slot": first % per_cluster * cell,
            "slots": np.diff([*first, len(holds)]) * cell,
            "holds": [name(kind) for kind in holds[first].tolist()],
            "taken": quarters[first] * 25,
        }
    )
