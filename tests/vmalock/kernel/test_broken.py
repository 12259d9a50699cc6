"""A step of the lock left out: what is turned for a run, and what the recorded ones saw."""

import pytest

from lorelab.errors import BadInput
from lorelab.lab import build
from lorelab.lab.run import RunOptions
from lorelab.vmalock.kernel import broken
from lorelab.vmalock.pages import views
from lorelab.vmalock.params import Broken


def test_only_the_step_that_is_left_out_is_turned():
    assert broken.switches(Broken(without=False)) == {}
    assert broken.switches(Broken()) == {"vmalock/fork_mark": "off"}
    assert broken.switches(Broken(workload="remap")) == {"vmalock/detached_check": "off"}


def test_with_kasan_a_reader_dawdles_whether_it_looks_or_not():
    for without in (False, True):
        turned = broken.switches(Broken(workload="remap", config="kasan", without=without))
        assert turned["vmalock/dawdle"] == "on"
        assert ("vmalock/detached_check" in turned) == without
    assert "vmalock/dawdle" not in broken.switches(Broken(config="kasan"))


def test_a_kernel_that_is_not_built_is_named(monkeypatch):
    monkeypatch.setattr(build, "find", lambda _: None)
    with pytest.raises(BadInput, match="lorelab lab build vmalock --config kasan"):
        broken.measure([Broken(config="kasan")], RunOptions())


def test_of_a_kernel_that_died_its_complaints_are_told():
    died = broken.counters_of(
        "fork", {"died": ["Oops: invalid opcode: 0000 [#1]", "BUG: a", "BUG: a"]}
    )
    said = {
        "kernel: Oops: invalid opcode: 0000 [#1]": ("times", [1]),
        "kernel: BUG: a": ("times", [2]),
    }
    assert died == {"ended": ("programs", [0])} | said


def test_nothing_is_wrong_where_nothing_is_left_out():
    runs = views.broken()
    assert (runs.loc[~runs["without"], "wrong"] == 0).all()
    assert runs.loc[runs["without"], "wrong"].gt(0).any()
