"""The panel of `fairzone/tiobench` draws the nap that the pages draw."""

from lorelab.fairzone.experiments.tiobench import simulate
from lorelab.fairzone.pages import nap, ran
from lorelab.fairzone.panel import tiobench
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.nap import MOMENTS
from lorelab.flat import flat

SMALL = {"mib": 1024, "min_free_kib": 8192, "steps": 3}


def moments(params):
    """Of a run, `ran.NAP` of each moment of its read, and how many of its rows are counters."""
    rows = tiobench.entry(flat(params, tiobench.CHOICES))
    kind = rows[:, tiobench.COUNTING]
    return rows[kind == 3][:, -len(ran.NAP) :], (kind == 0).sum()


def test_the_nap_is_the_pages():
    params = Tiobench(variant=Variant.V1, **SMALL)
    rows, counters = moments(params)
    table = nap.traced(params, [Variant.V1])
    assert counters == 4 and 200 < len(rows) <= MOMENTS
    for zone, first in (("DMA32", 2), ("Normal", 5)):
        of = table[table["zone"] == zone]
        assert (rows[:, 0] / PAGES_A_MIB).tolist() == of["mib"].tolist()
        assert [("", *nap.STARTED_BY)[n] for n in rows[:, 1]] == of["starts"].tolist()
        marks = of[["free", "kswapd", "allocator"]]
        assert (rows[:, first : first + 3] / PAGES_A_MIB).tolist() == marks.values.tolist()
    assert (rows[:, 1] > 0).any()


def test_what_is_seen_leaves_the_run_as_it_is():
    """Beside two files too, of which the first is read again; without a ZONE_DMA; in one window."""
    params = Tiobench(workload="two-files", zone_dma=False, **SMALL | {"steps": 1})
    rows, counters = moments(params)
    assert counters == 10 and len(rows) > 100
    counted = tiobench.entry(flat(params, tiobench.CHOICES))[:counters, : tiobench.COUNTING]
    table = simulate(params)
    simulated = table.pivot_table(index="step", columns="counter", values="value")
    for n, name in enumerate(tiobench.COUNTERS):
        if name in simulated:
            assert counted[:, n].tolist() == simulated[name].tolist(), name
