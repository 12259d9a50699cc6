"""`swap/mixed`: what several orders, lifetimes and migrating tasks leave of a swap device.

`lorelab.swap.workload.load` swaps out and in; this module counts, step by step.
"""

import math

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.numerics import ZERO, U, outline
from lorelab.params import label
from lorelab.progress import track
from lorelab.swap.model import v7_2
from lorelab.swap.model.state import (
    CLUSTER_FLAG_FRAG,
    CLUSTER_FLAG_NONFULL,
    SWAPFILE_CLUSTER,
    Swap,
)
from lorelab.swap.params import Mixed, order_weights
from lorelab.swap.workload.load import COUNTED, Load, mean_pages, run, start

NAME = "swap/mixed"

STATES = ("free", "nonfull", "frag", "full", "current", "unlisted")
STEALS = {"last": 1, "before free": v7_2.BEFORE_FREE, "fullest": v7_2.FULLEST}
"""When, or from what, order 0 takes slots of clusters of other orders; 7.2 does so last."""
IS_FREE, IS_NONFULL, IS_FRAG, IS_FULL, IS_CURRENT, IS_UNLISTED = range(6)


@outline
def _count_states(si, current, count):
    for idx in range(U(len(current))):
        ci = si.cluster_info[idx]
        if current[idx]:
            count[IS_CURRENT] += 1
        elif ci.count == ZERO:
            count[IS_FREE] += 1
        elif ci.count == SWAPFILE_CLUSTER:
            count[IS_FULL] += 1
        elif ci.flags == CLUSTER_FLAG_NONFULL:
            count[IS_NONFULL] += 1
        elif ci.flags == CLUSTER_FLAG_FRAG:
            count[IS_FRAG] += 1
        else:
            count[IS_UNLISTED] += 1


def cluster_states(si: Swap) -> dict[str, int]:
    """Count clusters by `STATES`.

    A cluster is `current` when a CPU allocates from it (percpu_cluster->next); before 6.12 such
    a cluster is on no list, and in RFC v1 and v2 it is reserved. `unlisted` clusters are neither
    full nor findable but by a linear scan.
    """
    current = np.zeros(len(si.swap_map) >> 9, np.bool_)
    following = si.percpu_next[si.percpu_next > 0]
    current[following >> 9] = True
    count = np.zeros(len(STATES), np.int64)
    _count_states(si, current, count)
    return dict(zip(STATES, count.tolist(), strict=True))


def windows(params: Mixed) -> list[int]:
    """How many folios are swapped out to fill the device, and then in each step."""
    folios = (params.device_mib << 8) / mean_pages(order_weights(params.orders))
    steps = params.steps if params.turnovers else 0
    ends = [round(folios * params.turnovers * step / steps) for step in range(1, steps + 1)]
    return [round(folios * params.fill), *np.diff([0, *ends]).tolist()]


def simulate(params: Mixed, steals: str = "") -> pd.DataFrame:
    """Run the load on the model.

    Parameters
    ----------
    params : Mixed
    steals : str
        One of `STEALS`, with variant v7.2; otherwise as `params.stealing` says.

    Returns
    -------
    DataFrame
        Step 1 is the filling, the others the turnovers in equal parts. For each order N there are
        `swpout_orderN` and `swpout_fallback_orderN` [folios], `fallback_orderN` [%],
        `scanned_orderN` [slots/allocation] and `visited_orderN` [clusters/allocation]; for all
        orders `scanned`, `visited`, `failed` [pages], `run_length` [slots], `utilisation` [%],
        `write_amplification` and the clusters by `STATES`. Step 0 is the whole run: the device's
        `utilisation_at_first_failure_orderN` [%] and, when order 0 failed,
        `free_at_first_failure` [slots]; what never failed has no row.
    """
    si, ld = start(params)
    if steals:
        si.info["stealing"] = STEALS[steals]
    orders = list(order_weights(params.orders))
    rows, before = [], _readings(si, ld)
    for step, folios in enumerate(track(windows(params), NAME)):
        run(si, ld, U(folios), step == 0)
        after = _readings(si, ld)
        rows.append(_window({name: after[name] - before[name] for name in after}, orders))
        rows[-1] |= _state(si, ld)
        before = after
    variant = label(params.variant)
    by_step = {name: (unit, [row[name][1] for row in rows]) for name, (unit, _) in rows[0].items()}
    tables = [counters.table(NAME, variant, "model", by_step)]
    whole = first_failures(si, ld, orders)
    if whole:
        tables.insert(0, counters.table(NAME, variant, "model", whole, first=0))
    return pd.concat(tables, ignore_index=True)


def _readings(si: Swap, load: Load) -> dict[str, np.ndarray]:
    read = {name: load.totals[name][0].astype(np.int64) for name in COUNTED}
    for name in ("swpout", "fallback"):
        read[name] = getattr(load, name).astype(np.int64)
    for name in ("scanned", "visited"):
        read[name] = getattr(si, name).astype(np.int64)
    return read


def _ratio(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else math.nan


def _window(change: dict[str, np.ndarray], orders: list[int]) -> dict[str, tuple[str, float]]:
    allocations = change["swpout"] + change["fallback"]
    columns = {}
    for order in sorted({0, *orders}):
        columns[f"swpout_order{order}"] = ("folios", change["swpout"][order])
        columns[f"swpout_fallback_order{order}"] = ("folios", change["fallback"][order])
        columns[f"fallback_order{order}"] = (
            "%",
            100 * _ratio(change["fallback"][order], allocations[order]),
        )
        for name, unit in (("scanned", "slots"), ("visited", "clusters")):
            columns[f"{name}_order{order}"] = (
                f"{unit}/allocation",
                _ratio(change[name][order], allocations[order]),
            )
    for name, unit in (("scanned", "slots"), ("visited", "clusters")):
        columns[name] = (f"{unit}/allocation", _ratio(change[name].sum(), allocations.sum()))
    written, copied = change["written"], change["copied"]
    columns["failed"] = ("pages", change["failed"])
    columns["run_length"] = ("slots", _ratio(written, change["runs"]))
    columns["write_amplification"] = ("written/asked", _ratio(written + copied, written))
    return columns


def _state(si: Swap, load: Load) -> dict[str, tuple[str, float]]:
    in_use, pages = int(load.totals["held"][0]), int(si.info["pages"][0])
    states = cluster_states(si).items()
    return {"utilisation": ("%", 100 * in_use / pages)} | {
        f"clusters_{name}": ("clusters", count) for name, count in states
    }


def first_failures(si: Swap, load: Load, orders: list[int]) -> dict[str, tuple[str, list]]:
    """Counters of the whole run: how full the device was when each order first found no room."""
    columns = {}
    for order in sorted({0, *orders}):
        if load.held_at_failure[order]:
            in_use = int(load.held_at_failure[order]) - 1
            percent = 100 * in_use / int(si.info["pages"][0])
            columns[f"utilisation_at_first_failure_order{order}"] = ("%", [percent])
    if load.held_at_failure[0]:
        free = int(load.totals["free_at_enospc"][0])
        columns["free_at_first_failure"] = ("slots", [free])
    return columns
