"""Variants and settings beside each other."""

import pytest

from lorelab import counters
from lorelab.damon.pages import settings
from lorelab.damon.params import Accuracy, Variant
from lorelab.params import label


@pytest.fixture
def simulated(monkeypatch):
    """Parameters of the runs; the error is the region's least number, the checks its interval."""
    given = []

    def simulate(params):
        given.append(params)
        random = params.workload == "random"
        said = {
            "rate_error": ("share", [params.min_regions + 100.0 * random]),
            "checks_per_second": ("checks / s", [params.sample_us + 1000.0 * random]),
        }
        return counters.table("damon/accuracy", label(params.variant), "model", said)

    monkeypatch.setattr(settings.accuracy, "simulate", simulate)
    return given


def test_a_run_is_of_the_parameters_with_the_changes(simulated):
    given = Accuracy(seed=9)
    assert settings.measured(given, min_regions=3).to_dict() == {
        "rate_error": 3,
        "checks_per_second": 5000,
    }
    assert simulated == [Accuracy(seed=9, min_regions=3)]


def test_every_variant_runs_on_every_program(simulated):
    runs = settings.variants(Accuracy(), ["random", "stairs-30secs"])
    assert {(params.variant, params.workload) for params in simulated} == {
        (variant, program) for variant in Variant for program in runs
    }
    table = settings.table(runs, "rate_error")
    assert list(table.index) == [label(variant) for variant in Variant]
    assert table["random"].tolist() == [110] * len(Variant)
    assert table["stairs-30secs"].tolist() == [10] * len(Variant)


def test_both_is_the_mean_over_the_programs(simulated):
    found = settings.both(Accuracy(), min_regions=4)
    assert found == {"error": 4 + 50, "checks": 5000 + 500}
    assert [params.workload for params in simulated] == list(settings.BOTH)


def test_the_grid_has_every_setting_and_its_front(simulated):
    table = settings.grid(Accuracy(), [5000, 20_000], [20], [10, 30])
    points = table[table["us"].notna()]
    assert set(zip(points["us"], points["least"], strict=True)) == {
        (us, least) for us in (5000, 20_000) for least in (10, 30)
    }
    assert {params.aggr_us // params.sample_us for params in simulated} == {20}
    assert set(table.loc[table["us"].isna(), "setting"]) == {
        label(variant) for variant in settings.BESIDE
    }
    # The least error at the fewest checks: nothing betters it, and it betters all the others.
    assert table.loc[table["front"], ["error", "checks"]].to_numpy().tolist()[0] == [60, 5500]
    assert not table.loc[(table["error"] > 60) | (table["checks"] > 5500), "front"].any()
    assert points["setting"].unique().tolist() == ["5 ms, 20 samples", "20 ms, 20 samples"]


def test_nulls_are_off_by_what_they_do_not_look_at():
    """Of a share h of hot pages, a rate of h is off by 1 - h on each of them and by h elsewhere."""
    found = settings.nulls(Accuracy(), ["whole", "sparse"])
    errors = settings.table(found, "rate_error")
    hot = 1 / 64
    assert errors.loc["all cold"].tolist() == pytest.approx([1, hot], rel=0.03)
    assert errors.loc["one region"].tolist() == pytest.approx([0, 2 * hot * (1 - hot)], abs=0.02)
    assert settings.table(found, "checks_per_second").to_numpy().tolist() == [[0, 0], [200, 200]]
    assert (settings.table(found, "regions_max") == 1).all(axis=None)
