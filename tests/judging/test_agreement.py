"""How far apart repeats of two sides are: against what can be counted by hand, and by chance."""

import math
import random
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.counters import table
from lorelab.errors import NoModel
from lorelab.judging.agreement import (
    SAID_OF,
    Agreement,
    AgreementVerdict,
    by_interval,
    by_means,
    equal,
    no_model,
    verdicts,
)
from lorelab.judging.equivalence import (
    hodges_lehmann_ratio,
    ks_statistic,
    mann_whitney_counts,
    ratio,
)
from lorelab.judging.rows import ROW, intervals, means, without


def test_ways_are_those_of_all_orders():
    for n, m in ((1, 1), (2, 3), (4, 2), (3, 3)):
        counted = [0] * (n * m + 1)
        for order in set(permutations("a" * n + "b" * m)):
            pairs = [(x, y) for i, x in enumerate(order) for y in order[i:]]
            counted[pairs.count(("b", "a"))] += 1
        assert mann_whitney_counts(n, m) == counted


def test_six_against_six():
    """Mann and Whitney's table has 5 for 6 against 6 at 5 %: the 6th quotient from either end."""
    before, after = [1.0] * 6, [float(n) for n in range(1, 7)]
    assert hodges_lehmann_ratio(before, after) == (1.0, 3.5, 6.0)
    before = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    every = sorted(b / a for a in before for b in after)
    low, estimate, high = hodges_lehmann_ratio(before, after)
    assert (low, high) == (every[5], every[30])
    assert estimate == pytest.approx((every[17] + every[18]) / 2)


def test_the_interval_has_what_is_true_as_often_as_it_says():
    chance = random.Random(1)

    def repeats(factor):
        return [factor * (100 + chance.expovariate(1)) for _ in range(6)]

    found = [hodges_lehmann_ratio(repeats(1), repeats(1.01)) for _ in range(2000)]
    assert 0.94 < sum(low <= 1.01 <= high for low, _, high in found) / len(found) < 0.98


def test_three_repeats_are_too_few():
    with pytest.raises(ValueError, match="take 4 on either side"):
        hodges_lehmann_ratio([1, 2, 3], [1, 2, 3])
    assert hodges_lehmann_ratio([1, 2, 4, 8], [1, 2, 4, 8]) == (1 / 8, 1, 8)


def test_the_ratio_of_skewed_means_is_between_its_bounds_as_often_as_it_says():
    chance = random.Random(2)

    def repeats(number, mean):
        return [mean * chance.expovariate(1) for _ in range(number)]

    found = [ratio(repeats(60, 2), repeats(120, 3)) for _ in range(1000)]
    assert 0.93 < sum(low <= 1.5 <= high for _, low, high in found) / len(found) < 0.98


def test_bounds_of_a_ratio_are_those_of_the_delta_method():
    """With many repeats: the variance of its logarithm is the sum of those of both means."""
    chance = random.Random(3)
    sides = [[chance.gauss(100, 10) for _ in range(n)] for n in (400, 900)]
    means = [sum(one) / len(one) for one in sides]
    square = sum(
        sum((x - mean) ** 2 for x in one) / len(one) ** 2 / mean**2
        for one, mean in zip(sides, means, strict=True)
    )
    exact = [means[1] / means[0] * math.exp(z * math.sqrt(square)) for z in (0, -1.96, 1.96)]
    assert ratio(*sides) == pytest.approx(exact, abs=0.0005)


values = st.lists(st.integers(0, 6), min_size=1, max_size=30)


@given(values, values)
def test_a_distance_is_that_of_the_shares_up_to_any_value(a, b):
    counted = [[side.count(value) for value in range(7)] for side in (a, b)]
    shares = [
        sum(x <= value for x in a) / len(a) - sum(x <= value for x in b) / len(b)
        for value in range(7)
    ]
    assert ks_statistic(*counted) == pytest.approx(max(map(abs, shares)))


def test_a_distribution_of_nothing_is_apart_from_all_others():
    none, some = np.zeros(3), np.array([0, 2, 1])
    assert (ks_statistic(none, none), ks_statistic(none, some), ks_statistic(some, none)) == (
        0,
        1,
        1,
    )


def test_rows_are_judged_alike_however_they_were_made():
    """By hand: the worst of those that are judged, and none at all decides nothing."""
    rows = pd.DataFrame(
        {
            "counter": ["exact", "near", "far", "lacking", "wide"],
            "unit": "pages",
            "agrees": [True, True, False, False, True],
            "detectable": [0, 0.1, 0.05, math.nan, math.inf],
        }
    )
    found = ["passed", "passed", "failed", "undecided", "undecided"]
    assert verdicts(rows) == found
    assert verdicts(rows, 0.04)[1] == "undecided"
    held = Agreement.of(rows, "so")
    assert (held.verdict, held.method) == ("failed", "so")
    assert held.table.equals(rows.assign(verdict=found))

    def aside(*names):
        return Agreement.of(rows, "so", dict.fromkeys(names, "input"))

    assert aside("far").verdict == "undecided"
    assert list(aside("far").table["verdict"]) == [*found[:2], "input", *found[3:]]
    assert aside("far", "lacking", "wide").verdict == "passed"
    assert aside(*rows["counter"]).verdict == "undecided"

    def identities(*names):
        return Agreement.of(rows, "so", dict.fromkeys(names, "identity"))

    assert identities("far").table.equals(held.table) and identities("far").verdict == "failed"
    assert list(identities("exact").table["verdict"]) == ["identity", *found[1:]]
    assert identities(*rows["counter"]).verdict == "failed"
    for name in ROW:
        with pytest.raises(ValueError, match=f"rows of an agreement lack {name}$"):
            Agreement.of(rows.drop(columns=name), "so")
    with pytest.raises(ValueError, match=r"no counter is called fra$"):
        aside("fra")


@pytest.mark.parametrize("mark", SAID_OF)
def test_what_has_a_mark_is_shown_and_not_counted(mark):
    rows = pd.DataFrame(
        {"counter": ["a", "b", "c"], "unit": "pages", "agrees": True, "detectable": 0.0}
    )
    held = Agreement.of(rows, "so", {"b": mark})
    assert list(held.table["verdict"]) == ["passed", mark, "passed"]
    assert list(held.judged["counter"]) == ["a", "c"]
    assert held.method == f"so; {SAID_OF[mark]}: b"


def test_an_identity_that_does_not_hold_is_counted_and_the_sentence_does_not_excuse_it():
    rows = pd.DataFrame(
        {"counter": ["a", "b"], "unit": "pages", "agrees": [True, False], "detectable": 0.0}
    )
    held = Agreement.of(rows, "so", {"b": "identity"})
    assert (held.verdict, held.method, len(held.judged)) == ("failed", "so", 2)


def test_no_model_judges_nothing():
    assert not len(no_model("none").judged)


def test_ranges_that_meet_at_zero_are_undecided_and_such_that_do_not_fail():
    none = repeated(a=[0, 0, 0])
    assert by_means(none, repeated(a=[0, 0, 1])).verdict == AgreementVerdict.UNDECIDED
    assert by_means(none, repeated(a=[1, 2, 1])).verdict == AgreementVerdict.FAILED


def runs(means, number=24, spread=0.02, seed=1):
    """Counters of `number` runs, with the mean and the share by which each scatters."""
    chance = random.Random(seed)
    values = {
        name: ("pages", [chance.gauss(mean, mean * spread) for _ in range(number)])
        for name, mean in means.items()
    }
    return table("swap/usemem", "v6.12", "kernel", values)


def test_means_that_are_shown_to_be_near_pass():
    found = by_means(runs({"a": 100, "b": 5}), runs({"a": 101, "b": 5}, seed=2))
    assert found.verdict == AgreementVerdict.PASSED
    assert (found.table["detectable"] < 0.04).all()


@pytest.mark.parametrize("off", [0.8, 0.88, 1.12, 1.3, 3])
def test_one_counter_that_is_off_fails_all(off):
    found = by_means(runs({"a": 100, "b": 5}), runs({"a": 100, "b": 5 * off}, seed=2))
    assert found.verdict == AgreementVerdict.FAILED
    assert list(found.table["agrees"]) == [True, False]


def test_what_could_not_have_been_refused_is_undecided():
    found = by_means(runs({"a": 100}, 3, 0.3), runs({"a": 100}, 3, 0.3, seed=2))
    assert found.verdict == AgreementVerdict.UNDECIDED
    assert found.table["detectable"].iloc[0] > 0.10


def test_what_the_model_was_told_is_no_agreement():
    model, kernel = runs({"a": 100, "b": 5}), runs({"a": 200, "b": 5}, seed=2)
    found = by_means(model, kernel, inputs=("a",))
    assert found.verdict == AgreementVerdict.PASSED
    assert list(found.table["verdict"]) == ["input", "passed"]
    assert list(found.table["agrees"]) == [False, True]
    assert by_means(model, kernel, inputs=("a", "b")).verdict == AgreementVerdict.UNDECIDED


def test_zero_on_one_side_fails_and_on_both_passes():
    none, some = runs({"a": 0}, spread=0), runs({"a": 1})
    assert by_means(none, none).verdict == AgreementVerdict.PASSED
    assert by_means(none, some).verdict == AgreementVerdict.FAILED


def test_a_right_model_fails_in_one_comparison_of_twenty_however_many_counters():
    means = {f"c{n}": 100 for n in range(20)}
    failed = sum(
        by_means(runs(means, 6, 0.3, seed=2 * n), runs(means, 6, 0.3, seed=2 * n + 1)).verdict
        == AgreementVerdict.FAILED
        for n in range(60)
    )
    assert failed <= 8


def test_counters_are_divided_run_by_run():
    model = table("swap/usemem", "v6.12", "model", {"n": ("p", [10, 20]), "a": ("q", [1, 2])})
    kernel = table("swap/usemem", "v6.12", "kernel", {"n": ("p", [50, 30]), "a": ("q", [5, 3])})
    found = by_means(model, kernel, per="n")
    assert list(found.table["counter"]) == ["a"]
    assert found.table["kernel/model"].iloc[0] == 1
    assert found.verdict == AgreementVerdict.PASSED


def repeated(**counters):
    found = {name: ("1", values) for name, values in counters.items()}
    return table("a/b", "v", "kernel", found)


def test_what_timing_alone_decides_is_judged_nowhere():
    def held(after, timing=("flushes",)):
        before = repeated(folios=[1] * 6, flushes=[1, 2] * 3, slots=[1] * 6)
        return by_interval(intervals(before, after, "folios"), timing).verdict

    other = repeated(folios=[1] * 6, flushes=[5, 6] * 3, slots=[1] * 6)
    assert held(other) == AgreementVerdict.PASSED
    assert held(other, ()) == AgreementVerdict.FAILED
    assert (
        held(repeated(folios=[1] * 6, flushes=[1, 2] * 3, slots=[2] * 6)) == AgreementVerdict.FAILED
    )


@pytest.mark.parametrize(
    ("model", "kernel", "detectable", "verdict"),
    [
        ([3] * 6, [3] * 6, 0, AgreementVerdict.PASSED),
        ([102], [100, 101, 102, 103, 104, 105], 0.0571, AgreementVerdict.PASSED),
        ([100], [80, 90, 100, 100, 110, 120], 0.4809, AgreementVerdict.UNDECIDED),
        ([0], [0, 0, 0, 0, 0, 1], np.inf, AgreementVerdict.UNDECIDED),
        ([100], [101, 101, 101, 101, 101, 101], np.inf, AgreementVerdict.FAILED),
        ([100, 100], [101, 101], 0.01, AgreementVerdict.FAILED),
        ([100, 100], [100], 0, AgreementVerdict.PASSED),
        ([100, 100], [109], np.inf, AgreementVerdict.UNDECIDED),
        ([100, 102, 98], [148, 150, 152, 150, 149, 151], 0.5806, AgreementVerdict.FAILED),
        ([100] * 6, [100, 100, 100, 100, 100, 150], 0.3202, AgreementVerdict.UNDECIDED),
    ],
)
def test_a_counter_says_which_deviation_it_would_have_refused(model, kernel, detectable, verdict):
    n = len(kernel)
    compared = intervals(
        repeated(per=[1] * len(model), it=model), repeated(per=[1] * n, it=kernel), "per"
    )
    assert compared["detectable"].tolist() == pytest.approx([detectable], abs=1e-4)
    held = by_interval(compared)
    assert held.verdict == verdict
    assert held.table["agrees"].all() == (verdict != AgreementVerdict.FAILED)


def test_equal_is_every_step_on_both_sides():
    both = repeated(a=[1, 2], b=[3, 3])
    held = equal(both, both)
    assert (held.verdict, held.table["agrees"].tolist()) == (AgreementVerdict.PASSED, [True, True])
    assert held.method == "step by step, of 2 counters: 4 of 4 values are equal"
    off = equal(both, both.assign(value=[1, 2, 3, 4]))
    assert (off.verdict, off.table["agrees"].tolist()) == (AgreementVerdict.FAILED, [True, False])
    missing = equal(both, repeated(a=[1, 2], b=[3]))
    assert (missing.verdict, missing.table["agrees"].tolist()) == (
        AgreementVerdict.FAILED,
        [True, False],
    )
    assert equal(both[:0], both[:0]).verdict == AgreementVerdict.UNDECIDED


ONE_SIDED = [
    (repeated(per=[1] * 6, a=[1] * 6), repeated(per=[1] * 6, a=[1] * 6, b=[1] * 6), "kernel"),
    (repeated(per=[1] * 6, a=[1] * 6, b=[1] * 6), repeated(per=[1] * 6, a=[1] * 6), "model"),
]


@pytest.mark.parametrize(("model", "kernel", "only"), ONE_SIDED)
@pytest.mark.parametrize(
    "judge",
    [by_means, lambda *sides: by_interval(intervals(*sides, "per")), equal],
    ids=["means", "in", "equal"],
)
def test_a_counter_of_one_side_is_shown_and_nothing_passes(judge, model, kernel, only):
    held = judge(model, kernel)
    assert held.verdict == AgreementVerdict.UNDECIDED
    table = held.table.set_index("counter")
    assert [table.loc[name, "agrees"] for name in "ab"] == [True, False]
    assert math.isnan(table.loc["b", "detectable"]) and table.loc["a", "detectable"] == 0
    assert f"not compared, for only the {only} has it: b" in held.method


def test_a_counter_of_one_side_hides_none_that_fails():
    model, kernel = repeated(a=[1] * 6), repeated(a=[2] * 6, b=[1] * 6)
    assert by_means(model, kernel).verdict == AgreementVerdict.FAILED
    sides = [pd.concat([one, repeated(per=[1] * 6)]) for one in (model, kernel)]
    assert by_interval(intervals(*sides, "per")).verdict == AgreementVerdict.FAILED


def test_what_nobody_measured_is_absent_and_what_the_kernel_alone_has_is_not():
    more, less = repeated(a=[1] * 6, b=[1] * 6), repeated(a=[1] * 6)
    held = equal(more, less, unmeasured=["b", "c"])
    assert (held.verdict, list(held.table["counter"])) == (AgreementVerdict.PASSED, ["a"])
    assert held.method.endswith("; not measured: b")
    assert equal(less, more, unmeasured=["b"]).verdict == AgreementVerdict.UNDECIDED
    assert equal(more, more.assign(value=2), unmeasured=["b"]).verdict == AgreementVerdict.FAILED


def test_what_is_set_aside_may_be_on_one_side():
    model, kernel = repeated(a=[1] * 6), repeated(a=[1] * 6, b=[1] * 6)
    assert by_means(model, kernel, inputs=("b",)).verdict == AgreementVerdict.PASSED


@pytest.mark.parametrize("aside", [{"inputs": ("aa",)}, {"timing": ("aa",)}, {"per": "aa"}])
def test_a_name_that_no_counter_has_is_refused(aside):
    both = repeated(a=[1, 2], b=[3, 3])
    with pytest.raises(ValueError, match="no counter is called aa"):
        by_means(both, both, **aside)
    with pytest.raises(ValueError, match="no counter is called aa"):
        compared = intervals(both, both, aside.get("per", "b"))
        by_interval(compared, aside.get("timing", ()), aside.get("inputs", ()))


def test_one_run_of_a_kernel_against_a_model_without_scatter_decides_nothing():
    """The interval would have no width, and one measurement would pass at 95 %."""
    held = [by_means(repeated(a=[100, 100]), repeated(a=[value])) for value in (100, 101, 109)]
    assert [one.verdict for one in held] == ["passed", "undecided", "undecided"]


@pytest.mark.parametrize(
    "judge", [equal, by_means, lambda *sides: intervals(*sides, "a")], ids=["eq", "means", "in"]
)
def test_a_kernel_of_another_release_is_compared_with_nothing(judge):
    model = repeated(a=[1, 2])
    kernel = model.assign(variant="v7.4")
    with pytest.raises(NoModel, match=r"the kernel is v7\.4, and the model is of v: nothing is"):
        judge(model, kernel)


def test_what_one_side_cannot_have_is_named():
    model, kernel = repeated(a=[1], b=[2]), repeated(a=[1], c=[3])
    found = without(("b", "c"), model, kernel)
    assert [side["counter"].tolist() for side in found] == [["a"], ["a"]]
    with pytest.raises(ValueError, match="both sides have a"):
        without(("a",), model, kernel)
    with pytest.raises(ValueError, match="no counter is called d"):
        without(("b", "d"), model, kernel)


@pytest.mark.parametrize("rows", [means, intervals])
def test_what_is_not_judged_makes_no_other_counter_harder_to_refuse(rows):
    """Twenty counters together fail less often each than one: only those that are judged count."""
    shown = {f"shown_{number}": [5, 6, 7, 8] for number in range(20)}
    model = repeated(near=[90, 110, 95, 105], per=[1] * 4, **shown)
    kernel = repeated(near=[128, 152, 134, 146], per=[1] * 4, **shown)
    near = [
        rows(model, kernel, "per", aside).set_index("counter").loc["near", "agrees"]
        for aside in ((), shown)
    ]
    assert near == [True, False]
