"""`fairzone/followed`: each walk of the kernel's allocator against the model's."""

import numpy as np
import pandas as pd

from lorelab.agreement import Agreement, Verdict
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.follow import COMPARED, NO_ZONE, Walks, follow
from lorelab.fairzone.model.zones import Node
from lorelab.fairzone.params import MODES, Followed, Variant
from lorelab.lab.records import Record

FREE = ("free_dma", "free_dma32", "free_normal", "free_movable")
UNITS = {"zone": "zone taken", "passes": "passes", "skips_batch": "zones", "reset": "resets"}


def nodes_of(params: Followed, table: pd.DataFrame) -> tuple[tuple[Node, ...], dict[int, int]]:
    """The model's zones as the kernel had them, one view for each class of allocation.

    Returns
    -------
    nodes : tuple of Node
        By the highest zone of the class; the counters are the same.
    place : dict
        Index of each slot of the kernel.
    """
    known = table[table["kind"] == "zone"]
    managed = known["managed"].tolist()
    reserve = np.zeros((len(known), len(known)), np.int64)
    reserve[:, -1], reserve[:, min(1, len(known) - 1)] = known["reserve"], known["reserve_dma32"]
    marks = [
        (0, low, high) for low, high in zip(known["wmark_low"], known["wmark_high"], strict=True)
    ]
    cpus = max(2, params.cpus)  # a kernel built for several CPUs, however many there are
    node = zones.make(managed, Variant.BASELINE, cpus, marks=marks, reserves=reserve)
    for name, value in MODES[params.mode]._asdict().items():
        node.info[name] = int(value)
    node.zone["threshold"] = known["threshold"]
    node.zone["nr_alloc_batch"] = node.zone["batch"]
    nodes = []
    for k in range(1, len(known) + 1):
        info = node.info.copy()
        info["classzone"] = k - 1
        order = np.arange(k - 1, -1, -1, dtype=np.uint64)
        view = (node.zone[:k], node.lowmem_reserve[:k], order, node.percpu[:k], info, node.count)
        nodes.append(Node(*view))
    return tuple(nodes), {slot: place for place, slot in enumerate(known["zone"])}


def walks_of(table: pd.DataFrame, place: dict[int, int]) -> Walks:
    """The rows of the record as the model takes them."""
    rows = table[table["kind"] == "walk"]

    def bits(name: str) -> np.ndarray:
        mask = rows[name].to_numpy(np.uint64)
        moved = np.zeros_like(mask)
        for slot, to in place.items():
            moved |= ((mask >> np.uint64(slot)) & np.uint64(1)) << np.uint64(to)
        return moved

    zone = rows["zone"].map({**place, int(NO_ZONE): int(NO_ZONE)})
    # A class above the highest populated zone is served from that.
    highest = [sum(slot <= klass for slot in place) - 1 for klass in range(8)]
    first, second = bits("low") | bits("other"), bits("low2") | bits("other2")
    return Walks(
        *(rows[name].to_numpy(np.uint64) for name in ("count", "cpu")),
        zone.to_numpy(np.uint64),
        *(rows[name].to_numpy(np.uint64) for name in ("order", "flags")),
        bits("skipped"),
        np.column_stack([first, second]),
        rows["passes"].to_numpy(np.uint64),
        np.array(highest, np.uint64)[rows["klass"]],
        *(rows[name].to_numpy(np.int64) for name in ("batch", "diff")),
        np.ascontiguousarray(rows[[FREE[slot] for slot in place]].to_numpy(np.int64)),
    )


def followed(params: Followed, table: pd.DataFrame) -> tuple[np.ndarray, Walks, int]:
    """How many walks of each row the model has as the kernel, by what is compared.

    Returns
    -------
    (rows, COMPARED) i8, Walks, int
        And how many watermark tests the model made from free pages.
    """
    nodes, place = nodes_of(params, table)
    walks = walks_of(table, place)
    same = np.zeros((len(walks.count), len(COMPARED)), np.int64)
    return same, walks, follow(nodes, walks, same)


def agree(params: Followed, record: Record) -> Agreement:
    """Every walk has to come to the same."""
    same, walks, tests = followed(params, record.counters)
    every = int(walks.count.sum())
    counted = same.sum(axis=0)
    table = pd.DataFrame(
        {
            "counter": COMPARED,
            "unit": "walks",
            "walks": every,
            "same": counted,
            "agrees": counted == every,
        }
    )
    right = bool(table["agrees"].all()) and every > 0
    judged = (
        f"walk by walk, in the order of the kernel's log: of {every} walks the model has "
        f"{counted.min()} or more with the same outcome, each of {len(COMPARED)} compared; "
        f"{tests} watermark tests are the model's own"
    )
    return Agreement(Verdict.PASSED if right else Verdict.FAILED, table, judged)
