"""What splitting above half of the bound gains: one rule is left out, and no other."""

from lorelab.damon.model.alternatives import NULLS
from lorelab.damon.pages import today


def test_splits_above_half_are_the_one_rule_that_is_left_out():
    found = today.above_half("stairs-30secs", max_regions=20, repeats=1)
    assert found["rules"].tolist() == [*today.RULES, *NULLS]
    lag = found.set_index("rules")["lag_mean"]
    assert lag["7.3.4"] < lag["7.3.4 without splits above half"]


def test_6_12_splits_from_the_bound_on_that_its_first_regions_are_half_of():
    by_bound = {}
    for bound in (21, 22):
        found = today.above_half("zigzag-30secs", bound, repeats=1).set_index("rules")
        by_bound[bound] = found.loc[["6.12.117", "fixed regions"], today.FIGURES]
    assert by_bound[21].nunique().eq(1).all() and by_bound[21]["regions_mean"].eq(11).all()
    assert by_bound[22]["rate_error"]["6.12.117"] < by_bound[22]["rate_error"]["fixed regions"]


def test_all_memory_told_cold_takes_no_checks_and_is_never_right():
    found = today.above_half("stairs-30secs", max_regions=20, repeats=1).set_index("rules")
    null = found.loc["all cold"]
    assert null["checks_per_second"] == 0 and null["lag_mean"] == found["lag_mean"].max()


def test_a_bound_that_is_never_near_needs_no_such_splits():
    same = today.above_half("steady", max_regions=1000, repeats=1).set_index("rules")
    pair = same.loc[["7.3.4 without splits above half", "7.3.4"], today.FIGURES]
    assert pair.nunique().eq(1).all()


def test_what_two_kdamonds_share_is_all_that_tells_their_runs_apart():
    found = today.shared("zigzag-30secs", max_regions=20, repeats=1).set_index("shared")
    error = found["rate_error"]
    assert error["last_nr_regions"] == error["neither (the fix)"], "no window below a third"
    assert error["both (7.3.4)"] == error["rotation"] > 2 * error["neither (the fix)"]


def test_with_nothing_shared_one_of_two_kdamonds_runs_as_one_alone():
    alone = today.above_half("zigzag-30secs", max_regions=20, repeats=1).set_index("rules")
    found = today.shared("zigzag-30secs", 20, 1, names=["neither (the fix)"])
    assert found[today.FIGURES].iloc[0].equals(alone.loc["7.3.4", today.FIGURES].rename(0))


def test_far_below_the_bound_only_the_last_count_matters():
    found = today.shared("stairs-30secs", max_regions=1000, repeats=1).set_index("shared")
    checks = found["checks_per_second"]
    assert checks["rotation"] == checks["neither (the fix)"] > checks["last_nr_regions"]


def test_runs_that_miss_are_counted_by_rules_and_number_of_kdamonds():
    first = today.missed(repeats=3, windows=1)
    assert first.columns.tolist() == [1, 2] and first.eq(3).all(axis=None), "none in one window"
    later = today.missed(repeats=12, windows=150)
    assert later.loc["6.12.117", 1] < later.loc["6.12.117", 2]
    guest = later.loc["6.12.117 at the speeds of its record"]
    assert (guest < later.loc["6.12.117"]).all()
