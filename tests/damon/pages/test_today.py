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
