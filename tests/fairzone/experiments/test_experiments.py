"""What each experiment must bring out, on small machines, and what is bad input."""

import pandas as pd
import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.fairzone.experiments import boundary, inversion, tiobench
from lorelab.fairzone.pages import simulated, views
from lorelab.fairzone.params import Boundary, Inversion, Tiobench, Variant
from lorelab.params import label, parse

FULL = {"kswapd_rate": 30, "steps": 1}
"""The machine of the thread's author; some 8 million pages are touched in half a second."""


def read(variant, **given):
    done = tiobench.run(Tiobench(variant=variant, **FULL, **given))
    rows = simulated.summary(done).set_index("phase")
    return rows.loc["write"], rows.loc["read"], done


def test_the_read_back_of_v1():
    """The artefact: v1 keeps the head of the file in DMA32, and the baseline nothing."""
    wrote, rereads, done = read(Variant.V1)
    assert 0.09 < rereads["hits"] < 0.14
    assert wrote["share"] < 0.25 < wrote["size"]
    assert done.count[:, tiobench.COUNTS.index("resets")].sum() == 0
    assert rereads["passes"] == pytest.approx(2, abs=0.01)
    _, fair, _ = read(Variant.BASELINE)
    assert fair["hits"] < 0.002
    assert fair["share"] == pytest.approx(fair["size"], abs=0.003)
    assert rereads["tests"] > 2.5 * fair["tests"]


@pytest.mark.parametrize("rate", [1.05, 3, 100])
def test_the_read_back_needs_no_slow_kswapd(rate):
    done = tiobench.run(Tiobench(variant=Variant.V1, kswapd_rate=rate, steps=1))
    assert simulated.summary(done).set_index("phase").loc["read", "hits"] > 0.09


def test_without_the_nap_there_is_none():
    assert read(Variant.V1, disk_mb_s=0)[1]["hits"] < 0.002


def test_a_cold_cache_gives_no_hits():
    assert read(Variant.V1, workload="drop-caches")[1]["hits"] == 0


@pytest.mark.parametrize("variant", [Variant.V1, Variant.V1_LOCAL])
def test_v1_without_zone_dma_and_v1_that_asks_only_reachable_zones_are_fair(variant):
    assert read(variant, zone_dma=False)[1]["hits"] < 0.002
    assert read(variant)[2].count[:, tiobench.COUNTS.index("resets")].sum() == 0
    assert read(Variant.V1_REACHABLE)[1]["hits"] < 0.002


def test_a_kswapd_without_reserves_leaves_dma32_alone():
    """As the series of June had it: a static zone, whose part of the data hits."""
    _, rereads, _ = read(Variant.MERGED, balance_reserves=False)
    assert rereads["share"] < 0.01
    closed = simulated.hit_fraction(rereads["size"], 0, 2)
    assert rereads["hits"] == pytest.approx(closed, abs=0.01)


@pytest.mark.parametrize(("variant", "resets"), [(Variant.BASELINE, 32), (Variant.V1, 0)])
def test_in_the_boundary_case_each_allocation_of_the_baseline_resets(variant, resets):
    table = boundary.simulate(Boundary(variant=variant)).set_index("counter")["value"]
    assert table["resets"] == resets
    assert table["slow"] == 32
    assert table["passes"] == 3 * 32


def test_the_merged_patch_goes_straight_to_the_slow_path():
    table = boundary.simulate(Boundary(variant=Variant.MERGED)).set_index("counter")["value"]
    assert (table["resets"], table["rescans"], table["passes"]) == (0, 0, 2 * 32)


def test_before_the_reset_the_low_zone_serves():
    case = Boundary(variant=Variant.BASELINE, low_batch=0, low_above=5, allocations=5)
    table = boundary.simulate(case).set_index("counter")["value"]
    assert (table["resets"], table["slow"]) == (1, 0)


def test_residency_over_the_rate():
    params = Inversion(variant=Variant.OFF, rates=2, lowest_rate=1.05, highest_rate=30, turnovers=1)
    table = inversion.simulate(params).pivot_table("value", "step", "counter")
    assert (table["residency_dma32"] > 2 * table["residency_normal"]).all()
    assert table["rate"].tolist() == pytest.approx([1.05, 30])


def test_drift_leaves_the_shares_alone():
    simulate = experiment("fairzone/batches").simulate
    found = []
    for exact in (False, True):
        given = {"exact": exact, "cpus": 64, "threads": 64, "percent": 100}
        table = simulate(parse(experiment("fairzone/batches").Params, given))
        table = table.set_index("counter")["value"]
        found.append(table["allocated_dma32"] / table["allocated_normal"])
        assert (table["deferred"] > 0) != exact
    assert found[0] == pytest.approx(found[1], rel=0.005)


@pytest.mark.parametrize("variant", Variant)
def test_every_variant_runs(variant):
    given = {"variant": label(variant), "mib": 64, "min_free_kib": 1024, "steps": 1}
    found = experiment("fairzone/tiobench").simulate(parse(Tiobench, given))
    assert (found["value"] >= 0).all()
    assert set(found["variant"]) == {label(variant)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"variant": "v2"}, "variant"),
        ({"kswapd_rate": 0}, "kswapd_rate"),
        ({"threads": 17}, "threads"),
        ({"workload": "fio"}, "workload"),
        ({"mib": 65537}, "65536 MiB"),
        ({"readahead": 513}, "512 pages"),
        ({"dirty_percent": 101}, "100 %"),
    ],
)
def test_bad_parameters_are_named(given, said):
    with pytest.raises(BadInput, match=said):
        parse(Tiobench, given)


def test_rates_must_rise():
    with pytest.raises(BadInput, match="highest_rate"):
        parse(Inversion, {"lowest_rate": 3, "highest_rate": 2})


def test_a_nap_is_weighed_against_a_quarter_of_min_free():
    """The sum of high - low is a quarter of min_free_kib, but for what is rounded down."""
    points = pd.DataFrame(
        {
            "disk_mb_s": [132.0, 20.0],
            "mib": [7973, 1000],
            "min_free_kib": [67584, 16384],
            "zone_dma": [True, False],
            "result": [11.6, 0.0],
        }
    )
    table = views.naps(points)
    expected = [132e6 / 4096 / 10 / (67584 / 4 / 4), 20e6 / 4096 / 10 / (16384 / 4 / 4)]
    assert table["part"].tolist() == pytest.approx(expected, rel=0.002)
    assert table["zone_dma"].tolist() == ["with ZONE_DMA", "without"]
    assert table["hits"].tolist() == [11.6, 0.0]
