"""Fault-around in the model: against sets in plain Python, and against the recorded kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.faultaround.kernel import faults
from lorelab.faultaround.params import Faults
from lorelab.faultaround.thread import checks
from lorelab.faultaround.thread.claims import CLAIMS
from lorelab.faultaround.workload import COUNTERS, cached, reads
from lorelab.judging import threads
from lorelab.lab import records
from lorelab.lab.run import Measured
from tests.judging.test_figures_weigh import shown, unmoved  # noqa: F401

ASKED = experiment("faultaround/faults")
RECORDED = records.recorded(ASKED.name, Faults)
PARAMS = st.builds(
    Faults,
    pages=st.integers(1, 1200),
    first=st.integers(0, 511),
    order=st.integers(1, 9),
    access=st.sampled_from(["sequential", "backwards", "random"]),
    stride=st.integers(1, 40),
    missing=st.integers(0, 9),
    seed=st.integers(0, 9),
)


def oracle(params, shifted=True):
    """Faults of the same reads, by sets of entries in one long table."""
    size, first = 1 << params.order, params.first
    there = {first + int(n) for n in np.flatnonzero(cached(params))}
    present, rows = set(), []
    for entry in (first + int(page) for page in reads(params)):
        if entry in present:
            continue
        table = range(entry - entry % 512, entry - entry % 512 + 512)
        start = max(entry - entry % size, first)
        end = start + size if shifted else entry - entry % size + size
        start, end = max(start, table.start), min(end, first + params.pages, table.stop)
        there.add(entry)
        new = there & set(range(start, end)) - present
        present |= new
        lines = len({n // 8 for n in new})
        rows.append([entry - first, start - first, end - 1 - first, len(new), lines])
    return rows


def wide(counters):
    table = counters.pivot_table(index="step", columns="counter", values="value")
    return table[[name for name in COUNTERS if name in table]].to_numpy().tolist()


@given(PARAMS)
def test_each_fault_is_that_of_the_sets(params):
    assert wide(ASKED.simulate(params)) == oracle(params)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_recorded_kernel_is_the_model_in_every_fault(params):
    record = ASKED.recorded(params)
    assert ASKED.agree(params, record).verdict == "passed"
    assert len(set(record.counters["counter"])) == (5 if params.order else 3)


def test_the_records_would_tell_a_window_that_ends_aligned():
    """The other reading of the code: a window cut by the start of its mapping keeps its end."""
    around = [params for params in RECORDED if params.order]
    differ = [p for p in around if oracle(p, shifted=False) != wide(ASKED.recorded(p).counters)]
    assert Faults(first=7) in differ and Faults() not in differ


def measured(*seen):
    """A run of two faults as the guest has them, and faults as the probe has."""
    rows = [{"at": 512, "faults": [[512, 2, 1], [514, 1, 1]]}]
    frame = {"probe": "windows", "stream": "faults", "fields": ["page", "start", "end"], "lost": 0}
    return Measured(rows, {}, [frame | {"rows": seen}], [])


def test_a_fault_that_only_one_of_guest_and_probe_saw_fails_the_run():
    whole = faults._counters(Faults(), measured([512, 0, 1], [514, 2, 2]), 0)
    assert wide(whole) == [[0, 0, 1, 2, 1], [2, 2, 2, 1, 1]]
    with pytest.raises(RunFailed, match="other faults"):
        faults._counters(Faults(), measured([512, 0, 1]), 0)


def test_each_printed_figure_is_weighed(shown):  # noqa: F811
    rows = threads.figures("faultaround")
    assert unmoved(CLAIMS, rows, shown("faultaround")) == set()


def test_verdicts_and_that_none_is_held_whatever_is_measured(monkeypatch):
    assert {claim.id: str(claim.weigh().verdict) for claim in CLAIMS} == {
        "sequential": "holds",
        "random": "holds with another number",
        "useless": "holds",
        "after-order-4": "not testable here",
        "cache-lines": "holds with another number",
    }
    one = {"page": np.array([0]), "mapped": np.array([16]), "lines": np.array([2])}
    monkeypatch.setattr(checks, "recorded", lambda **given: one)
    assert checks.weigh_cache_lines().verdict == "holds"
    assert checks.weigh_useless().verdict == "contradicted"
