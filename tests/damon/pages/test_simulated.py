"""What the answers ask of the model: a table says what single runs say, in the units it names."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

from lorelab import counters
from lorelab.damon.experiments import hotspot
from lorelab.damon.pages import simulated, studies
from lorelab.damon.params import Hotspot, Variant
from lorelab.damon.workload.hotspot import Outcome

GIB = 1 << 30


def runs(waits):
    """Counters of damon/hotspot that waited so long."""
    return counters.table(
        "damon/hotspot",
        "damon",
        "model",
        {"wait": ("windows", waits), "nr_regions": ("regions", [9.0] * len(waits))},
    )


@pytest.fixture
def requested(monkeypatch):
    """The parameters that experiments were run with; each run says `cpu`, its size and seed."""
    given = []

    def simulate(params, *_):
        given.append(params)
        said = {"cpu": ("share", [0.25]), "seed": ("", [float(params.seed)])}
        return counters.table("damon/any", "damon", "model", said)

    monkeypatch.setattr(simulated.accuracy, "simulate", simulate)
    monkeypatch.setattr(simulated.overhead, "simulate", simulate)
    return given


def test_settings_are_all_run_on_one_program(requested):
    table = simulated.settings(7)
    assert list(table.index) == list(simulated.SETTINGS) and (table["seed"] == 7).all()
    assert {params.workload for params in requested} == {"stairs-30secs"}
    assert requested[0].variant == Variant.PAGE_SCAN and requested[-1].variant == Variant.FIXED
    assert [params.min_regions for params in requested] == [10, 10, 30, 100, 10]
    assert [params.sample_us for params in requested] == [5000, 5000, 20_000, 20_000, 5000]


def test_costs_are_by_bounds_and_size(requested):
    table = simulated.costs(3, mibs=(1, 64))
    assert list(table.index) == list(product(simulated.BOUNDS, (1, 64)))
    assert [params.mib for params in requested] == [1, 64, 1, 64]
    assert [params.min_regions for params in requested] == [10, 10, 1000, 1000]


def test_ways_by_size(requested):
    table = simulated.by_size({"few": {}, "many": {"min_regions": 500}}, [1, 2, 4])
    assert table[["kind", "mib"]].to_numpy().tolist() == [
        [kind, mib] for kind in ("few", "many") for mib in (1, 2, 4)
    ]
    assert [params.min_regions for params in requested] == [10] * 3 + [500] * 3


def test_bounds_of_regions_are_what_is_varied(requested, monkeypatch):
    monkeypatch.setattr(simulated, "largest", lambda least, seed: least / 1000 + seed)
    least, most = simulated.by_least([3, 30], 2), simulated.by_most((15, 100), 2)
    assert [params.min_regions for params in requested[:2]] == [3, 30]
    assert [params.max_regions for params in requested[2:]] == [15, 100]
    assert least["largest region"].to_dict() == {3: 2.003, 30: 2.03}
    assert list(most.index) == [15, 100]


def test_neighbours_fail_to_merge_as_often_as_pairs_of_counts_differ():
    """Drawn, not summed: within five standard errors."""
    rng = np.random.default_rng(1)
    table = simulated.merging([0.1, 0.5])
    for p, chance in table["fail to merge"].items():
        one, other = rng.binomial(20, p, (2, 200_000))
        drawn = (abs(one - other) > 2).mean()
        assert abs(drawn - chance) < 5 * math.sqrt(chance / 200_000)
    # Windows survived before a failure, each with the same chance.
    ages = np.arange(3000)
    for fails, mean in table[["fail to merge", "mean age"]].to_numpy():
        assert (ages * fails * (1 - fails) ** ages).sum() == pytest.approx(mean)


def test_the_threshold_is_0_only_where_no_count_reaches_ten():
    [*below, half] = simulated.merging([0.25, 0.4, 0.5])["fail, none at ten"]
    assert math.isnan(half)
    rng = np.random.default_rng(1)
    for p, chance in zip((0.25, 0.4), below, strict=True):
        one, other = rng.binomial(20, p, (2, 200_000))
        low = (one < 10) & (other < 10)
        assert (one != other)[low].mean() == pytest.approx(chance, abs=0.006)


def test_regions_of_one_rate_part_as_often_as_the_chance_says():
    found = simulated.merged(0.5, 1)
    assert found["fail to merge"] == pytest.approx(studies.apart(20, 0.5, 2), abs=0.03)
    assert found["regions"] > 1 and found["mean age"] >= 0


def test_what_is_touched_in_turn_counts_as_long_as_its_turn_lasts():
    long = simulated.turning(1000, 1)
    assert long.index.min() > 50 and set(long.round()) >= {0, 20}
    table = simulated.by_period([2, 1000], 1)
    assert table.loc[2, "expected"] == 20
    assert table.loc[1000, "expected"] == pytest.approx(20 * 1005 / 2000)
    assert (table[0.1] <= table[0.5]).all() and (table[0.5] <= table[0.9]).all()


def test_the_largest_region_is_what_the_bounds_leave():
    assert 0.05 < simulated.largest(10, 1) <= 0.1 * 1.02


def test_a_range_that_is_never_isolated_waits_longer_than_was_watched():
    never = hotspot.chain(4 << 10, (1 << 30) / 10, 20, 1000, False, 2)
    assert never[-1] < 0.1
    assert simulated.expected(4, 2, False).tolist() == [1001] * 3
    soon = simulated.expected(16_384, 3, False)
    chance = hotspot.chain(16 << 20, (1 << 30) / 10, 20, 1000, False, 3)
    for wait, quartile in zip(soon, simulated.QUARTILES, strict=True):
        assert chance[wait - 1] >= quartile > (chance[wait - 2] if wait > 1 else 0)


def test_searches_have_a_column_for_each_way_and_side(monkeypatch):
    asked_of = []

    def waits(given, **changes):
        asked_of.append(changes)
        return np.array([1, 2, 3])

    monkeypatch.setattr(simulated, "waits", waits)
    table = simulated.searches(Hotspot(), [1024, 4096])
    assert list(table.columns) == [(n, s) for n in simulated.SEARCHES for s in ("model", "chain")]
    assert [changes["hot_kib"] for changes in asked_of] == [1024, 4096] * 3
    assert [changes["own"] for changes in asked_of] == [False] * 4 + [True] * 2
    assert table["damon", "chain"][4096].tolist() == simulated.expected(4096, 3, False).tolist()


def test_waits_are_quartiles_of_sixty_seeds(monkeypatch):
    seen = []

    def watched(params):
        seen.append(params)
        return Outcome(params.seed % 100 if params.seed % 2 else 0, 1.0, 0.0)

    monkeypatch.setattr(simulated.hotspot, "watched", watched)
    found = simulated.waits(Hotspot(seed=101), hot_kib=64)
    assert len({params.seed for params in seen}) == 60
    assert {(params.windows, params.hot_kib) for params in seen} == {(1000, 64)}
    # Odd seeds wait 1, 3, ..., 59 windows, the other half for ever.
    assert found.tolist() == [30, round((59 + 1001) / 2), 1001]


def test_quartiles_in_words():
    said = runs([5, 1, 3, 2, 4])
    assert simulated.waited(said) == [5, 1, 3, 2, 4]
    assert simulated.quartiles(said) == "2 3 4"


def test_a_program_that_grows_keeps_what_was_made(monkeypatch):
    huge = simulated.huge_pages(("sparse",), 1)["sparse"]
    assert huge["made"] == (huge["collapses"] + huge["huge_faults"]) * 2**21 > 0
    assert huge["PMDs split"] == huge["pmd_splits"] * 2**21
    last = simulated.applied("sparse", "ethp", 1).iloc[-1]
    assert (huge[last.index] == last).all()


def test_a_quota_lets_less_out():
    quotas = {"none": {"mib": 16}, "small": {"mib": 16, "quota_mib": 1}}
    monkey = {name: simulated.applied("turns", "prcl", 1, **q) for name, q in quotas.items()}
    out = {name: run["paged_out"].iloc[-1] for name, run in monkey.items()}
    assert 0 < out["small"] < out["none"]


def test_units_of_what_was_paged_out(monkeypatch):
    history = pd.DataFrame(
        {
            "resident": [2.0 * 2**20, 4.0 * 2**20],
            "paged_out": [0.0, 512.0],
            "refaults": [0.0, 256.0],
            "scheme0_qt_exceeds": [1.0, 3.0],
        }
    )
    given = []

    def applied(program, rules, seed, **changes):
        given.append((program, rules, seed, changes))
        return history

    monkeypatch.setattr(simulated, "applied", applied)
    assert simulated.paged_out({"any": {"quota_mib": 1}}, 4)["any"].tolist() == [3, 2, 1, 3]
    assert given == [("stairs", "prcl", 4, {"quota_mib": 1})]
    damage = simulated.damage(("zigzag",), ("1s", "4s"), (0, 10), 4)
    assert damage.to_numpy().tolist() == [[3, 2, 1]] * 4
    assert [rules.split()[4] for _, rules, _, _ in given[1:]] == ["1s", "1s", "4s", "4s"]
    assert [changes["quota_mib"] for *_, changes in given[1:]] == [0, 10, 0, 10]


def test_a_set_behind_a_tlb_is_not_seen():
    assert simulated.hidden(1, 0, 1, tlb=0) == 20
    assert simulated.hidden(1, 0, 1) < 0.01
    assert simulated.hidden(16, 0, 1) > 19


def test_reach_is_the_chance_of_the_search():
    table = simulated.reach([100, 6], hots=(1,))
    for gib in (100, 6):
        assert table["1 GiB", "on"][gib] == hotspot.stand_out(GIB, gib * GIB, 20, True)
        assert table["1 GiB", "off"][gib] == simulated.truncated(GIB, gib * GIB, 20, True)
    # Three hits or more of twenty: the definition, by the binomial distribution.
    share = 1 / 100
    few = sum(math.comb(20, k) * share**k * (1 - share) ** (20 - k) for k in range(3))
    assert table["1 GiB", "on"][100] == pytest.approx(1 - few)


def test_drawing_runs_each_way_on_the_same_memory(monkeypatch):
    seen = []

    def simulate(params):
        seen.append(params)
        return runs([1, 2, 3] if params.rand64 else [10, 20, 30])

    monkeypatch.setattr(simulated.hotspot, "simulate", simulate)
    assert simulated.drawing(64, 1, (False, True), 5) == ["15 20 25", "2 2 2"]
    assert [(p.mib, p.hot_kib, p.rand64, p.seed) for p in seen] == [
        (65_536, 1 << 20, False, 5),
        (65_536, 1 << 20, True, 5),
    ]


def test_counts_in_turn_are_of_windows_51_to_300(monkeypatch):
    def counts(params, windows, config, name):
        assert (params.seed, name, config.phases[0].ms) == (7, "a", 40)
        return pd.Series(range(1, windows + 1))

    monkeypatch.setattr(simulated.studies, "counts", counts)
    found = simulated.turning(40, 7)
    assert (found.iloc[0], found.iloc[-1]) == (51, 300)


def test_huge_pages_are_of_2_mib(monkeypatch):
    """At the end of the program: those that khugepaged and faults have made, and those split."""
    rows = {"resident": [1, 2], "collapses": [1, 3], "huge_faults": [2, 2], "pmd_splits": [0, 4]}
    monkeypatch.setattr(simulated, "applied", lambda program, rules, seed: pd.DataFrame(rows))
    found = simulated.huge_pages(("any",), 1)["any"]
    assert found["made"] == (3 + 2) * (2 << 20)
    assert found["PMDs split"] == 4 * (2 << 20)


@pytest.mark.parametrize("hot", [1 << 29, 6 << 30])
def test_the_chance_with_a_truncated_offset_is_that_of_draws(hot):
    chance, region, runs = np.random.default_rng(1), 20 << 30, 4000
    at = chance.uniform(0, region - hot, runs)[:, None]
    drawn = chance.uniform(0, simulated.REACH, runs)[:, None] * chance.uniform(0, 1, (runs, 20))
    hits = ((drawn >= at) & (drawn < at + hot)).sum(axis=1)
    expected = simulated.truncated(hot, region, 20, always=True)
    assert (hits > 2).mean() == pytest.approx(expected, abs=0.02)
    assert simulated.truncated(1 << 20, 1 << 30, 20, True) == hotspot.stand_out(
        1 << 20, 1 << 30, 20, True
    )
