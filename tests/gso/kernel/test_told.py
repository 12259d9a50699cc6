"""Notifications: the model against the kernel, and what would mend them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import told
from lorelab.gso.model.told import notifications
from lorelab.gso.params import Told
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records

KINDS = st.lists(st.booleans(), min_size=1, max_size=30)


def heard(said):
    return [one.copied for one in said for _ in range(one.low, one.high + 1)]


@given(KINDS)
def test_late_all_is_told_as_the_first_was(copied):
    [one] = notifications(copied, late=True)
    assert (one.low, one.high, one.copied) == (0, len(copied) - 1, copied[0])


@given(KINDS, st.booleans())
def test_mended_every_send_is_told_of_as_it_was(copied, late):
    assert heard(notifications(copied, late, mended=True)) == copied
    assert heard(notifications(copied, late=False)) == copied


@given(KINDS)
def test_mended_alike_sends_are_still_told_of_as_one(copied):
    changes = sum(a != b for a, b in pairwise(copied))
    assert len(notifications(copied, late=True, mended=True)) == 1 + changes


@given(KINDS)
def test_fixed_a_range_is_told_of_as_copied_if_any_of_it_was(copied):
    [one] = notifications(copied, late=True, fixed=True)
    assert (one.low, one.high, one.copied) == (0, len(copied) - 1, any(copied))
    assert heard(notifications(copied, late=False, fixed=True)) == copied


def test_only_a_kernel_of_the_reader_s_own_has_the_fix():
    with pytest.raises(BadInput, match="fixed=true: takes --kernel PATH"):
        told.measure([Told(fixed=True)])
    with pytest.raises(ValueError, match="take one of them"):
        Told(fixed=True, mended=True)


def test_no_kernel_has_the_patch():
    with pytest.raises(BadInput, match="no kernel has the patch"):
        told.measure([Told(mended=True)])


def test_recorded_runs_agree_on_each_kernel():
    asked = experiment("gso/told")
    ours = [(None, params) for params in records.recorded("gso/told", asked.Params)]
    others = records.others("gso/told", asked.Params)
    assert ours
    assert {(release.split(".")[0], params.fixed) for release, params in others} == {
        *(("6", False), ("6", True), ("7", False)),
    }
    for release, params in [*ours, *others]:
        record = records.load("gso/told", params, release=release)
        assert asked.agree(params, record).verdict == AgreementVerdict.PASSED, (release, params)
