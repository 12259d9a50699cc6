"""`damon/overhead` in the guest: room for its memory, and two boots for each record."""

import pytest

from lorelab.damon.kernel import overhead as kernel_overhead
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput
from lorelab.lab import records, run
from lorelab.lab.run import Measured, RunOptions
from tests.damon.logged import played


def test_memory_for_the_guest():
    with pytest.raises(BadInput, match="room"):
        kernel_overhead.measure([Overhead(mib=4096)])


def test_a_record_is_of_both_boots_and_has_what_probes_said_in_each(monkeypatch):
    params = records.recorded("damon/overhead", Overhead)[0]
    kept = records.load("damon/overhead", params).provenance
    own = ("experiment", "params", "run_in_boot")
    source = {name: value for name, value in kept if name not in own} | {"boots": 1}
    booted = []

    def boot(request, options):
        booted.append(request.job.params["log"])
        frame = {"probe": options.probes[0], "lost": 0, "boot": len(booted)}
        return Measured([], source, [], [frame], request)

    monkeypatch.setattr(run, "measure", boot)
    monkeypatch.setattr(kernel_overhead, "logged", lambda requested, measured: [played()])
    monkeypatch.setattr(kernel_overhead, "read", lambda rows, number: played())
    [record] = kernel_overhead.measure([params], RunOptions(probes=("faults",)))
    assert booted == ["regions", ""]
    assert record.provenance.boots == 2
    assert [frame["boot"] for frame in record.probes] == [1, 2]
