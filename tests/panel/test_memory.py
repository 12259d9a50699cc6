"""Panels of which the largest run fits into the memory that a page gives it."""

from collections.abc import Iterable

import numpy as np

from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.params import HotRange
from lorelab.damon.workload.hot_range import begin
from lorelab.flat import flat
from lorelab.swap.params_holes import Holes
from lorelab.swap.workload.holes import rows_of
from lorelab.vmalock.params import Contention
from lorelab.vmalock.workload import programs
from tests.points import bounds

PAGE = 1 << 30
"""Bytes that a panel has (panel.js)."""


def largest(model, *names, **others):
    return model(**{name: bounds(model.model_fields[name])[1] for name in names}, **others)


def size(state: Iterable[object]) -> int:
    return sum(part.nbytes for part in state if isinstance(part, np.ndarray))


def test_every_hot_range_fits():
    """Each window copies its regions, and a page frees nothing before a run ends."""
    half = bounds(HotRange.model_fields["mib"])[1] << 9
    regions = bounds(HotRange.model_fields["max_regions"])[1]
    placed = {"hot_kib": half, "hot_at_kib": 0, "then_at_kib": half, "min_regions": regions}
    params = largest(HotRange, "mib", "max_regions", "windows", **placed)
    ctx, pages, rows = begin(flat(params, {})[0])
    assert len(pages.truth) > half >> 1, "of all of the memory"
    copies = params.windows * regions * SNAPSHOT.itemsize
    assert PAGE // 2 < size(ctx) + size(pages) + rows.nbytes + copies < PAGE


def test_all_contention_fits():
    machine = programs.contention(largest(Contention, "threads", "vmas", "cpus"))
    assert PAGE // 256 < size(machine) < PAGE // 4


def test_all_holes_fit():
    params = largest(Holes, "clusters", "folios", small_clusters=0, holes=0)
    assert rows_of(flat(params, {})[0]).nbytes < PAGE // 4
