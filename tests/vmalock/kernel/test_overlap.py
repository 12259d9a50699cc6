"""A fault that is inside when a writer comes, after a wrap: who waits, by the recorded runs."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lorelab.vmalock.kernel import overlap
from lorelab.vmalock.pages import views
from lorelab.vmalock.params import Overlap

WRITERS = ("mprotect", "munmap")


def runs(kernel):
    found = views.overlap().set_index(["kernel", "writer"])
    return found.loc[kernel].loc[list(WRITERS)]


def test_with_the_old_number_no_writer_waits():
    found = runs("6.12.117")
    assert (found["inside"] == 1).all()
    assert (found["step"] == "marked_again").all()
    assert found["through"].all()


def test_with_the_numbers_reset_each_writer_waits():
    found = runs("6.12.117, numbers reset")
    assert (found["inside"] == 1).all() and (found["step"] == "wait").all()
    assert not found["through"].any()
    assert found["ended"].all() and (found["complaints"] == "").all()


def test_after_munmap_the_fault_goes_on_with_a_freed_vma():
    found = runs("6.12.117")
    assert found["ended"].to_list() == [True, False]
    assert found.loc["mprotect", "complaints"] == ""
    assert "non-canonical address 0x6b6b6b6b6b6b6b" in found.loc["munmap", "complaints"]


def counters(monkeypatch, rows, log):
    monkeypatch.setattr(overlap, "log_table", lambda _: pd.DataFrame(log))
    monkeypatch.setattr(overlap, "variant", lambda _: "v6.12")
    table = overlap._counters(Overlap(), SimpleNamespace(rows=rows), 0)
    return table.set_index("counter")["value"]


@pytest.mark.parametrize("step", overlap.STEPS)
def test_the_step_is_that_of_the_vma_that_the_fault_holds(monkeypatch, step):
    other = {"event": "marked", "vma": 2, "holder": 0}
    # Another VMA of the process, in which nobody is held.
    another = {"event": "locked", "vma": 3, "holder": 1}
    log = [other, {"event": "locked", "vma": 1, "holder": 1}, other, another]
    log += [{"event": step, "vma": 1, "holder": 1}]
    rows = [{"returned": step != "wait"}, {"piece": ""}, {"ended": True}]
    found = counters(monkeypatch, rows, log)
    assert [name for name in overlap.STEPS if found[name]] == [step]
    assert (found["inside"], found["returned"], found["ended"]) == (1, step != "wait", 1)


def test_of_a_kernel_that_dies_the_complaint_is_told(monkeypatch):
    log = [{"event": event, "vma": 1, "holder": 1} for event in ("locked", "marked_again")]
    rows = [{"returned": True}, {"piece": ""}, {"died": ["Oops: a"]}]
    found = counters(monkeypatch, rows, log)
    assert found["ended"] == 0 and found["kernel: Oops: a"] == 1
