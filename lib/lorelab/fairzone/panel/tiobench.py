"""The panel of `fairzone/tiobench`: files are written and read, on a machine of the reader's."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.experiments.tiobench import (
    BUCKETS,
    PLANS,
    UNITS,
    begin,
    end,
    files_of,
    pages_each,
    window,
)
from lorelab.fairzone.model import filemap
from lorelab.fairzone.model.zones import (
    COUNTS,
    INFO,
    ZONES,
    populate,
    set_traits,
    setup_per_zone_lowmem_reserve,
    split,
    wmarks,
)
from lorelab.fairzone.pages import ran
from lorelab.fairzone.params import TRAITS, Variant
from lorelab.fairzone.workload import nap
from lorelab.fairzone.workload.files import where_cached
from lorelab.numerics import U, njit
from lorelab.panel import progress

CHOICES = {"workload": tuple(PLANS), "zoneinfo": ("",)}
COUNTERS = (
    {name: "pages" for name in ("touched", "read", "hits")}
    | {f"allocated_{zone.lower()}": "pages" for zone in ZONES}
    | {name: UNITS.get(name, name) for name in COUNTS}
)
WITHOUT = {"allocated_dma": ("zone_dma", "false")}
MORE = ("kind", *ran.WINDOW, *ran.PART, *ran.NAP)
"""For the chart: what a window did (kind 1); what of a part of the files is cached before they
are read, or read again (kind 2); and the zones while half of that is done (kind 3)."""
COUNTING = len(COUNTERS)
FIRST = 1
VARIANT = "variant"
RERUN = ("fairzone/model", ("kswapd_rate", "disk_mb_s", "zone_dma", "min_free_kib", "mib"))
INFOS = np.zeros(len(Variant), INFO)
for _variant in Variant:
    set_traits(INFOS[_variant : _variant + 1], TRAITS[_variant])
PLAN = np.concatenate([plan for _, plan in PLANS.values()])
STARTS = np.cumsum([0, *(len(plan) for _, plan in PLANS.values())])
"""Of each workload in PLAN, and the end."""


@njit
def entry(params):
    """Run the workload; a row a phase has `COUNTERS`, others are for the chart.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Tiobench`.
    """
    p = params[0]
    managed = split(p.mib, p.zone_dma != 0, p.below_4g_mib)[0 if p.zone_dma else 1 :].copy()
    node = populate(
        managed,
        wmarks(managed, p.min_free_kib, p.watermark_scale_factor),
        setup_per_zone_lowmem_reserve(managed),
        len(managed),
        p.cpus,
        p.exact != 0,
        INFOS[p.variant : p.variant + 1].copy(),
    )
    node.info[0].dirty_ratio = p.dirty_percent
    plan = PLAN[STARTS[p.workload] : STARTS[p.workload + 1]]
    each = pages_each(params, managed.sum())
    mm = filemap.make(node, each * p.threads * files_of(plan), 0, p.balance_reserves != 0)
    mm.kswapd[0].nap_draws = U(p.seed)
    rows = np.zeros(
        (len(plan) * (2 + p.steps) + BUCKETS + nap.MOMENTS, COUNTING + len(MORE)), np.int64
    )
    now, before, began = np.zeros((3, COUNTING), np.int64)
    phases, used, windows, mapped = 0, len(plan), 0, -1
    for phase in plan:
        if phase.drops:
            filemap.drop_caches(mm)
            continue
        if phases and not phase.writes and mapped < 0:
            mapped = phases
            used += _map(mm, rows[used:, COUNTING:])
        begin(mm, params, phase)
        for n in range(1 if phase.scattered else p.steps):
            progress(windows, len(plan) * p.steps)
            windows += 1 if not phase.scattered else p.steps
            if phases == mapped and n == p.steps // 2:
                seen = np.zeros((nap.MOMENTS, nap.MARKS + 3 * len(managed)), np.int64)
                moments = nap.trace(nap.copied(mm), params, phase, each, n, seen)
                used += _nap(seen[:moments], rows[used:, COUNTING:])
            now[0] += window(mm, params, phase, each, n)
            _counted(mm, now)
            _since(now, before, phase.writes, rows[used])
            rows[used, COUNTING] = 1
            _window(phase, phases, n, p.steps, managed, rows[used, COUNTING + 1 :])
            used += 1
        if mm.failed[0]:
            raise RuntimeError
        end(mm, phase)
        _counted(mm, now)
        before[:] = now
        _since(now, began, phase.writes, rows[phases])
        phases += 1
    return np.concatenate((rows[:phases], rows[len(plan) : used]))


@njit
def _counted(mm, now):
    """Totals so far, but for the pages touched."""
    now[1] = np.int64(mm.disk[0])
    zones = len(mm.node.zone)
    for z in range(zones):
        now[3 + len(ZONES) - zones + z] = mm.node.zone[z].allocated
    for n in range(len(COUNTS)):
        now[3 + len(ZONES) + n] = np.int64(mm.node.count[n])


@njit
def _since(now, then, writes, row):
    """What was counted since `then`, which becomes `now`."""
    for n in range(COUNTING):
        row[n] = now[n] - then[n]
        then[n] = now[n]
    row[2] = 0 if writes else row[0] - row[1]


@njit
def _window(phase, number, n, steps, managed, cells):
    """What `ran.ran` draws of a window: a number for each of `ran.WINDOW`."""
    cells[0] = number
    cells[1] = n
    cells[2] = 1 if phase.scattered else steps
    cells[3] = 2 * phase.scattered + (0 if phase.writes else 1)
    cells[4] = managed[-2]
    cells[5] = managed[-1] + managed[-2]


@njit
def _map(mm, rows):
    """What is cached of each part of the files: a number for each of `ran.PART`."""
    pages = where_cached(mm, BUCKETS)
    zones = len(mm.node.zone)
    for part in range(BUCKETS):
        rows[part, 0] = 2
        cells = rows[part, 1 + len(ran.WINDOW) :]
        cells[0] = part
        cells[1] = len(mm.map)
        for z in range(zones):
            cells[2 + len(ZONES) - zones + z] = pages[part, z]
    return BUCKETS


@njit
def _nap(seen, rows):
    """What `ran.ran` draws of a read's middle: a number for each of `ran.NAP`."""
    first = 1 + len(ran.WINDOW) + len(ran.PART)
    for n in range(len(seen)):
        rows[n, 0] = 3
        rows[n, first : first + nap.MARKS] = seen[n, : nap.MARKS]
        rows[n, first + nap.MARKS :] = seen[n, -6:]  # of DMA32 and Normal
    return len(seen)


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's charts of what ran."""
    return ran.ran(
        table.pivot_table(index=["step", "variant"], columns="counter", values="value", sort=False)
    )
