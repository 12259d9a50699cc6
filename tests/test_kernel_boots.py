"""Which runs share a boot, without one: the machine and the kernel of each are its own."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from lorelab.damon.kernel import overhead
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import run
from lorelab.lab.run import RunOptions
from lorelab.params import for_kernel, parse
from tests.points import SMALL, one_at_a_time
from tests.test_kernel_reads import KERNEL, KERNELS, OF_THE_READER

OF_ALL_RUNS = {"swap/swapout", "swap/instructions", "swap/usemem"}
"""A guest with memory, and a RAM disk with room for the largest of its runs."""
PER_RUN = {"runs", "programs"}
"""Of what a job is sent, lists with what each run is."""
TWICE = {"damon/overhead"}
"""Booted once more before its `Measurement` is asked; its own test is below."""
BOOTED = [one for one in KERNELS if one.name not in TWICE]


@pytest.fixture
def boots(monkeypatch):
    """The requests of the boots that are asked for, in place of boots."""
    asked = []

    def boot(self, batch, options):
        try:
            asked.append((batch, self.request(batch), self.request))
        except BadInput as refused:
            raise AssertionError(f"refused behind other boots: {refused}") from None
        return [
            SimpleNamespace(counters=None, provenance=None, probes=[], params=params)
            for params in batch
        ]

    monkeypatch.setattr(run.Measurement, "_boot", boot)
    return asked


def measure(found, requested):
    """Ask an experiment, whose records are nothing that it could go on with."""
    with suppress(AttributeError, TypeError):
        found.measure(requested, OF_THE_READER.get(found.name, RunOptions()))


def machine(name, request):
    """What of a boot all its runs have."""
    job = request.job
    settings = {key: value for key, value in job.params.items() if key not in PER_RUN}
    booted = request.machine
    if name in OF_ALL_RUNS:
        booted = booted._replace(memory_mib=0, append=())
    return booted, request.patched, request.config, job.workload, settings, job.probes


@pytest.mark.parametrize("found", BOOTED, ids=lambda one: one.name)
def test_a_run_has_its_own_machine_and_kernel_whoever_shares_its_boot(found, boots):
    base = parse(found.Params, SMALL.get(found.name, {}) | KERNEL.get(found.name, {}))
    base = for_kernel(base)
    fields = base.model_dump(mode="json", exclude_defaults=True)
    shared = 0
    for field, point in one_at_a_time(found.name, found.Params):
        boots.clear()
        try:
            other = parse(found.Params, {**fields, field: point[field]})
            measure(found, [base, other])
        except BadInput:
            assert not boots
            continue
        assert boots
        for batch, request, ask in boots:
            shared += len(batch) > 1
            for params in batch:
                alone = machine(found.name, ask([params]))
                assert machine(found.name, request) == alone, f"{field}={point[field]}"
    assert shared or all(len(batch) == 1 for batch, _, _ in boots)


def test_a_run_that_turns_no_switch_is_not_booted_with_one_that_does(monkeypatch):
    asked = []

    def boot(request, options):
        asked.append(request)
        raise RunFailed("asked")

    monkeypatch.setattr(run, "measure", boot)
    with pytest.raises(RunFailed, match="asked"):
        overhead.measure([Overhead(tlb=0), Overhead(tlb=264)])
    [request] = asked
    assert not request.patched and len(request.job.params["runs"]) == 1
