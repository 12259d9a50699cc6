"""What the chapter would send upstream: its figures are the searches' and the recorded run's."""

import re

import pytest

from lorelab.experiments import experiment
from lorelab.lab.records import Record
from lorelab.vmalock.params import Collision
from lorelab.vmalock.thread import findings


def test_both_versions_have_an_interleaving_that_breaks_a_rule():
    said = findings._taken()
    counts = re.findall(r"after (\d+)", said)
    assert len(counts) == 2 and "0" not in counts
    assert f"writer {Collision().n} and no other" in said


def test_the_recorded_run_moves_what_is_said(monkeypatch):
    kept = experiment("vmalock/collision").recorded(Collision())
    moved = kept.counters.copy()
    taken = moved["counter"] == "taken"
    moved.loc[taken, "value"] = (moved.loc[taken, "step"] == 3).astype(int)
    other = Record(moved, kept.provenance)
    real = experiment

    class Told:
        def __init__(self, name):
            self.asked = real(name)

        def simulate(self, params):
            return self.asked.simulate(params)

        def recorded(self, params):
            return other if isinstance(params, Collision) else self.asked.recorded(params)

    monkeypatch.setattr(findings, "experiment", Told)
    assert "writer 3 and no other" in findings._taken()


def test_it_says_what_became_of_the_fault_that_was_inside():
    said = findings._taken()
    assert "mprotect() returned before it, munmap() returned before it, and the kernel died" in said
    assert "0x6b6b6b6b6b6b6b93" in said


@pytest.mark.parametrize("one", findings.FINDINGS, ids=lambda one: one.name)
def test_each_says_what_it_costs(one):
    assert one.effect()
