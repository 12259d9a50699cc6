"""What splitting above half of the bound gains: one rule is left out, and no other."""

from lorelab.damon.pages import today


def test_splits_above_half_are_the_one_rule_that_is_left_out():
    found = today.above_half("stairs-30secs", max_regions=20, repeats=1)
    assert found["rules"].tolist() == list(today.RULES)
    lag = found.set_index("rules")["lag_mean"]
    assert lag["7.3.4"] < lag["7.3.4 without splits above half"]


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


def test_runs_that_miss_are_counted_by_number_of_kdamonds():
    assert today.missed(repeats=3, windows=1) == {1: 3, 2: 3}
