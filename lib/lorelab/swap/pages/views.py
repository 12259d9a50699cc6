"""What pages of the book look at: a swap area's lists, and what each stretch of it holds."""

import numpy as np
import pandas as pd

from lorelab.numerics import U
from lorelab.params import label
from lorelab.swap.model import state
from lorelab.swap.model.state import SWAP_MAP_BAD, SWAPFILE_CLUSTER, Swap
from lorelab.swap.model.swap_slots import folio_alloc_swap
from lorelab.swap.params import Mixed, Variant, order_weights
from lorelab.swap.workload.load import folio_orders, mean_pages, run, start

CLUSTER = int(SWAPFILE_CLUSTER)
FREE, SET_ASIDE = -1, 10
"""Beside the orders 0 to 9: free; taken and held by no folio."""


def lists(si: Swap) -> pd.DataFrame:
    """Walk every list that isn't empty.

    Returns
    -------
    DataFrame
        `list` (kernel name), `clusters` (numbers, head first) and `slots` (taken in each).
    """
    heads = {"free": state.FREE, "full": state.FULL}
    heads |= {f"nonfull[{order}]": int(state.NONFULL) + order for order in range(10)}
    heads |= {f"frag[{order}]": int(state.FRAG) + order for order in range(10)}
    rows = []
    for name, which in heads.items():
        clusters = members(si, which)
        if clusters:
            counts = [int(si.cluster_info[idx]["count"]) for idx in clusters]
            rows.append((name, " ".join(map(str, clusters)), " ".join(map(str, counts))))
    return pd.DataFrame(rows, columns=["list", "clusters", "slots"])


def members(si: Swap, which: int) -> list[int]:
    """Clusters on one list (FREE, FULL, NONFULL + order, FRAG + order), head first."""
    head = int(state.head_of(si, which))
    clusters, idx = [], int(state.list_first(si, head))
    while idx != head:
        clusters.append(idx)
        idx = int(si.cluster_info[idx]["next"])
    return clusters


def fill(si: Swap, order: int, folios: int | None = None) -> list[int]:
    """Swap out folios of one order on CPU 0, until the device has no room, or so many are out.

    Returns
    -------
    list of int
        Their first slots.
    """
    taken: list[int] = []
    while folios is None or len(taken) < folios:
        offset = int(folio_alloc_swap(si, U(0), U(order)))
        if not offset:
            break
        taken.append(offset)
    return taken


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
    kinds = np.where(folios < 0, SET_ASIDE, folios)
    kinds[si.swap_map == SWAP_MAP_BAD] = SET_ASIDE
    return np.where(taken, kinds, FREE).astype(np.int8)


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


def maps(params: Mixed, variants: list[Variant], turnovers: list[float]) -> pd.DataFrame:
    """Cluster maps of several variants under the same load, at several times.

    Parameters
    ----------
    params : Mixed
        `variant`, `turnovers` and `steps` don't matter here.
    variants : list of Variant
    turnovers : list of float
        When to look, ascending; 0 is the device just filled.

    Returns
    -------
    DataFrame
        `cluster_map`, and the columns `variant` and `when`.
    """
    tables = []
    for variant in variants:
        mixed = Mixed(**(params.model_dump() | {"variant": variant}))
        si, ld = start(mixed)
        folios = (mixed.device_mib << 8) / mean_pages(order_weights(mixed.orders))
        run(si, ld, U(round(folios * mixed.fill)), True)
        for turnover in turnovers:
            run(si, ld, U(round(folios * turnover)) - ld.totals[0]["now"], False)
            shown = cluster_map(si, folio_orders(ld))
            turns = "turnover" if turnover == 1 else "turnovers"
            when = f"after {turnover:g} {turns}" if turnover else "just filled"
            tables.append(shown.assign(variant=label(mixed.variant), when=when))
    return pd.concat(tables, ignore_index=True)


def mixing(maps: pd.DataFrame, when: str) -> pd.Series:
    """Clusters that hold folios of several orders.

    Parameters
    ----------
    maps : DataFrame
        Of several variants, as `maps` gives them.
    when : str
        Which of their times.

    Returns
    -------
    Series
        By variant.
    """
    in_use = maps[(maps["when"] == when) & maps["holds"].str.startswith("order")]
    orders = in_use.groupby(["variant", "cluster"])["holds"].nunique()
    return (orders > 1).groupby("variant").sum()
