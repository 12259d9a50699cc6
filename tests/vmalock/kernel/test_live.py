"""The chapter's guest programs, switches, probes and its log, on its kernel: four short boots.

What is asserted holds in whatever order threads get on, so that no speed matters: counters that
follow from a program have to be equal, and no step of a log may be another than the model's. How
many steps have two right answers is left open; a log with many is undecided, which will do.
"""

import pytest

from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.vmalock.params import Followed, Probed, Threads, Workloads

LOGGED = [
    Followed(mode="private", rounds=10, pages=4),
    Followed(mode="shared", faulters=3, rounds=20, pages=5),
    Followed(mode="merging", faulters=3, mappers=2, rounds=10, pages=5, delay_us=100),
    Followed(mode="shared", rounds=10, pages=4, path="mmap"),
]
COUNTED = [
    Threads(mode="private", rounds=50, pages=4),
    Threads(mode="merging", rounds=50, pages=4, delay_us=100),
    Threads(mode="shared", faulters=3, rounds=50, pages=4, path="mmap"),
]
RAN = [
    Workloads(workload="launch", threads=5, size=16),
    Workloads(workload="fork", size=20),
    Workloads(workload="receive", threads=3, size=50, same=True),
    Workloads(workload="receive", threads=3, size=20, path="mmap"),
]


@pytest.fixture(scope="module")
def kernel(patched):
    return patched("vmalock")


def test_no_step_of_a_log_is_another_than_the_models(kernel):
    asked = experiment("vmalock/followed")
    for params, record in zip(LOGGED, asked.measure(LOGGED), strict=True):
        found = asked.agree(params, record)
        assert found.verdict is not AgreementVerdict.FAILED, (params, found.method)
        # A writer for each round of each mapper, and a fault for each page, at least.
        assert len(record.counters) > params.rounds * (params.pages + params.mappers)


def test_faults_and_writers_are_counted_as_the_program_has_them(kernel):
    asked = experiment("vmalock/threads")
    for params, record in zip(COUNTED, asked.measure(COUNTED), strict=True):
        found = asked.agree(params, record)
        assert found.verdict is AgreementVerdict.PASSED, (params, found.table)


def test_workloads_do_what_follows_from_them(kernel):
    asked = experiment("vmalock/workloads")
    for params, record in zip(RAN, asked.measure(RAN), strict=True):
        found = asked.agree(params, record)
        assert found.verdict is AgreementVerdict.PASSED, (params, found.table)


def test_probes_count_what_the_kernel_counts(kernel):
    asked = experiment("vmalock/probed")
    params = Probed(mode="shared", rounds=5, pages=4)
    [record] = asked.measure([params])
    found = asked.agree(params, record)
    assert found.verdict is AgreementVerdict.PASSED, found.table
    assert "mmaplock.lost" in set(record.counters["counter"])
