"""swap/probed: probes on an unmodified kernel, the patched one's counters, and the model agree."""

from pathlib import Path

import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import records, run
from lorelab.swap.kernel import paths, probed
from lorelab.swap.params import AllocatorTest

PROBED = experiment("swap/probed")
RECORDED = records.recorded(PROBED.name, AllocatorTest)


def test_there_are_records():
    assert AllocatorTest(options="-s", large_swapin=False, iterations=20) in BOTH


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_record_equals_the_model(params):
    joined = compare(PROBED.simulate(params), PROBED.recorded(params).counters)
    assert exact(joined)


BOTH = [params for params in RECORDED if records.load("swap/paths", params)]


@pytest.mark.parametrize("params", BOTH, ids=str)
def test_a_record_equals_what_the_patched_kernel_counted(params):
    """Another kernel, another boot, the same counts."""
    kept = records.load("swap/paths", params)
    mine = PROBED.recorded(params)
    assert not mine.provenance.kernel.patches
    assert kept.provenance.kernel.patches
    counters = mine.counters[mine.counters["step"] == 0].set_index("counter")["value"]
    said = kept.counters.set_index("counter")["value"]
    assert counters[said.index].to_dict() == said.to_dict()


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_the_histograms_add_up(params):
    found = PROBED.recorded(params).counters
    totals = found[found["step"] == 0].set_index("counter")["value"]
    sums = found.groupby("counter")["value"].sum()
    for order in (0, 4):
        places = [f"{place}_{order}" for place in paths.PLACES]
        served = totals[places].sum()
        if order:
            # A call is one allocation, and each slot it got was used once more.
            assert sums[f"read_{order}"] == served + totals[f"fail_{order}"]
            assert sums.get(f"swapouts_{order}", 0) <= served << order
        else:
            assert sums[f"read_{order}"] <= served + totals[f"fail_{order}"]
            assert sums[f"swapouts_{order}"] <= served
    reads = found[found["counter"].str.startswith("read_")]
    least = (reads["step"] * reads["value"]).sum()
    assert least <= totals[["scanned_0", "scanned_4"]].sum() < 2 * least


def test_the_probes_go_with_the_record():
    for params in RECORDED:
        programs = map(Path, PROBED.recorded(params).provenance.programs)
        # Where all designs' probes were in one folder, their names began with the design's.
        watched = {file.stem.removeprefix("swap_") for file in programs if file.suffix == ".c"}
        assert set(probed.PROBES) <= watched  # the guest has all probes of its design


def test_what_missed_something_is_no_record(monkeypatch):
    frames = [{"probe": "alloc", "counters": [], "lost": 1}]
    told = run.Measured([], {}, frames, [])
    monkeypatch.setattr(run, "measure", lambda request, options: told)
    with pytest.raises(RunFailed, match=r"missed events.*alloc"):
        PROBED.measure([AllocatorTest()])
