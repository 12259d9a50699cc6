"""Fault-around in the model: against sets in plain Python, and against the recorded kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.experiments import experiment
from lorelab.faultaround.model import memory
from lorelab.faultaround.params import Faults
from lorelab.faultaround.thread import checks
from lorelab.faultaround.thread.claims import CLAIMS
from lorelab.faultaround.workload import cached, reads
from lorelab.judging import threads
from lorelab.lab import records
from tests.judging.test_figures_weigh import shown, unmoved  # noqa: F401

ASKED = experiment("faultaround/faults")
RECORDED = records.recorded(ASKED.name, Faults)
PARAMS = st.builds(
    Faults,
    pages=st.integers(1, 1200),
    first=st.integers(0, 511),
    order=st.integers(0, 9),
    access=st.sampled_from(["sequential", "backwards", "random"]),
    stride=st.integers(1, 40),
    missing=st.integers(0, 9),
    seed=st.integers(0, 9),
)


def oracle(params, shifted=True):
    """Faults of the same reads, by sets of entries in one long table."""
    size, first = 1 << params.order, params.first
    there = {first + int(n) for n in np.flatnonzero(cached(params))}
    mapping, present, faults = range(first, first + params.pages), set(), []
    for entry in (first + int(page) for page in reads(params)):
        if entry in present:
            continue
        start = max(entry - entry % size, mapping.start)
        end = start + size if shifted else entry - entry % size + size
        table = range(entry - entry % 512, entry - entry % 512 + 512)
        start = max(start, table.start)
        window = {n for n in range(start, end) if n in mapping and n in table and n in there}
        there.add(entry)
        new = ((window if size > 1 else set()) | {entry}) - present
        present |= new
        faults.append([entry - first, len(new), len({n // 8 for n in new})])
    return faults


def simulated(params):
    found = ASKED.simulate(params).pivot_table(index="step", columns="counter", values="value")
    return found[["page", "mapped", "lines"]].to_numpy().tolist()


@given(PARAMS)
def test_each_fault_is_that_of_the_sets(params):
    assert simulated(params) == oracle(params)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_recorded_kernel_is_the_model_in_every_fault(params):
    assert ASKED.agree(params, ASKED.recorded(params)).verdict == "passed"


def test_the_records_would_tell_a_window_that_ends_aligned():
    """The other reading of the code: a window cut by the start of its mapping keeps its end."""
    differ = [params for params in RECORDED if oracle(params, shifted=False) != simulated(params)]
    assert Faults(first=7) in differ and Faults() not in differ


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({}, 64),
        ({"first": 7}, 65),
        ({"order": 0}, 1024),
        ({"pages": 16, "first": 7}, 1),
        ({"pages": 16, "first": 7, "access": "backwards"}, 2),
    ],
)
def test_how_many_faults(given, faults):
    assert len(simulated(Faults(**given))) == faults


def test_a_window_ends_with_its_table():
    of = [memory.U(n) for n in (511, 0, 100, 16)]
    assert memory.do_fault_around(*of) == (511, 511)


def test_a_page_that_is_not_cached_takes_a_fault_of_its_own():
    assert simulated(Faults(pages=16, missing=16)) == [[0, 15, 2], [15, 1, 1]]


def test_each_printed_figure_is_weighed(shown):  # noqa: F811
    rows = threads.figures("faultaround")
    assert unmoved(CLAIMS, rows, shown("faultaround")) == set()


def test_verdicts():
    found = {claim.id: str(claim.weigh().verdict) for claim in CLAIMS}
    assert found["sequential"] == found["useless"] == found["small-mappings"] == "holds"
    assert found["random"] == found["cache-lines"] == "holds with another number"
    assert found["after-order-4"] == "not testable here" and len(found) == 7


def test_a_claim_is_not_held_whatever_is_measured(monkeypatch):
    row = np.array([[0, 16, 2]])
    monkeypatch.setattr(checks, "recorded", lambda **given: row)
    assert checks.weigh_cache_lines().verdict == "holds"
    assert checks.weigh_useless().verdict == "contradicted"
