"""Probes have to count what the kernel counts, no more and no less."""

import pandas as pd
import pytest

from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab.records import Record
from lorelab.vmalock.agree.probed import PAIRS, agree
from lorelab.vmalock.params import Probed

COUNTS = {
    "vma_lock_success": 64_000,
    "vma_lock_retry": 60,
    "vma_lock_abort": 5,
    "step_locked": 64_060,
}
WATCHED = {"faultpath.lost": 0}


def record(probes):
    rows = [(name, 0, value) for name, value in (COUNTS | WATCHED | probes).items()]
    return Record(pd.DataFrame(rows, columns=["counter", "step", "value"]), None)


SAME = {probe: COUNTS[kernel] for probe, kernel in PAIRS.items()}


def test_probes_that_count_the_same_agree():
    assert agree(Probed(), record(SAME)).verdict is AgreementVerdict.PASSED


@pytest.mark.parametrize("probe", PAIRS)
@pytest.mark.parametrize("more", [-1, 1])
def test_a_probe_that_misses_or_invents_one_does_not(probe, more):
    assert (
        agree(Probed(), record(SAME | {probe: SAME[probe] + more})).verdict
        is AgreementVerdict.FAILED
    )


def test_a_probe_that_is_silent_does_not():
    assert agree(Probed(), record({})).verdict is AgreementVerdict.FAILED


def test_what_no_probe_watched_is_not_0():
    """Were it counted as 0, so would a counter of the kernel that is 0 agree with it."""
    kept = record({})
    rest = kept.counters[kept.counters["counter"] != "faultpath.lost"]
    found = agree(Probed(), kept._replace(counters=rest.assign(value=0)))
    assert found.verdict is AgreementVerdict.UNDECIDED
    assert found.table["probe"].isna().all() and not found.table["agrees"].any()
    assert found.method.endswith("; no probe watched the other 4")


RECORDED = records.recorded("vmalock/probed", Probed)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_every_take_of_mmap_lock_was_waited_for_and_let_go(params):
    kept = experiment("vmalock/probed").recorded(params)
    assert agree(params, kept).verdict is AgreementVerdict.PASSED
    sums = kept.counters.groupby("counter")["value"].sum()
    for kind in ("0", "1"):
        # A downgrade takes mmap_lock for reading and asks for nothing; one that was held as the
        # counting began or ended has one half of its times.
        assert sums[f"mmaplock.wait_{kind}"] <= sums[f"mmaplock.taken_{kind}"]
        assert abs(sums[f"mmaplock.hold_{kind}"] - sums[f"mmaplock.taken_{kind}"]) <= 2


def test_some_are_recorded_with_the_lock_and_without():
    assert {params.path for params in RECORDED} == {"vma", "mmap"}
