"""`fairzone/followed`: each walk of the kernel's allocator against the model's."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.fairzone.model import zones
from lorelab.fairzone.model.replay import COMPARED, NO_ZONE, Walks, follow
from lorelab.fairzone.model.zones import Node
from lorelab.fairzone.params import MODES, Followed, Variant
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record

FREE = ("free_dma", "free_dma32", "free_normal", "free_movable")


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
    zones.set_traits(node.info, MODES[params.mode])
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


class Compared(NamedTuple):
    """What came of following a log; the first three as `model.replay.follow` fills them."""

    compared: np.ndarray  # (rows, COMPARED) i8
    same: np.ndarray
    inputs: np.ndarray
    whole: np.ndarray  # (rows,) i8: walks of which all that was compared is the kernel's
    walks: int
    tests: int  # of watermarks, that the model made from free pages


def followed(params: Followed, table: pd.DataFrame) -> Compared:
    """Let the model make each walk of a record."""
    nodes, place = nodes_of(params, table)
    walks = walks_of(table, place)
    shape = len(walks.count), len(COMPARED)
    compared, same, inputs = (np.zeros(shape, np.int64) for _ in range(3))
    whole = np.zeros(shape[0], np.int64)
    tests = follow(nodes, walks, compared, same, inputs, whole)
    return Compared(compared, same, inputs, whole, int(walks.count.sum()), tests)


def agree(params: Followed, record: Record) -> Agreement:
    """All that is compared of every walk has to be the same."""
    replay = followed(params, record.counters)
    table = pd.DataFrame({"counter": COMPARED, "unit": "walks", "walks": replay.walks})
    for name, walks in zip(("compared", "same", "input"), replay[:3], strict=True):
        table[name] = walks.sum(axis=0)
    table["agrees"] = table["same"] == table["compared"]
    table["detectable"] = np.where(table["compared"] > 0, 0.0, np.nan)
    alike = table.groupby(["same", "compared"], sort=False)["counter"].agg(", ".join)
    counted = "; ".join(
        f"{names} of {same} of {compared} compared" for (same, compared), names in alike.items()
    )
    partly = "".join(
        f"; {row.counter} was an input in part for {row.input}"
        for row in table[table["input"] > 0].itertuples()
    )
    method = (
        f"walk by walk, in the order of the kernel's log of {replay.walks} walks, the same are: "
        f"{counted}{partly}; {replay.tests} watermark tests are the model's own"
    )
    return Agreement.of(table, method)
