"""swap/switches on a kernel: what belongs to which setting and turn, and what was recorded."""

import pytest

from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import records, run
from lorelab.lab.records import Record
from lorelab.lab.run import Measured
from lorelab.swap.kernel.paths import PLACES
from lorelab.swap.params import Switches
from lorelab.swap.workload.switches import SETTINGS, settings

FOUND = experiment("swap/switches")
IN_TURNS = records.recorded(FOUND.name, Switches)


def test_rows_of_a_boot_go_to_their_setting_and_turn(monkeypatch):
    """The guest gives run after run, turn after turn; here each value says where it came from."""

    def measure(request, options):
        job = request.job
        assert request.patched and job.params["turns"] == 2
        rows = []
        for turn in range(2):
            for number in range(len(job.params["runs"])):
                place = {"turn": turn, "run": number}
                value = 1000 * turn + 100 * number
                for i in range(1, 21):
                    row = {"iteration": i, "swpout": value, "swpout_fallback": i}
                    rows.append(place | row)
                names = (*PLACES, "fail", "visited", "scanned")
                rows.append(
                    place | {"counters": {f"{n} {o}": value for n in names for o in (0, 4)}}
                )
        assert len(rows) == job.rows
        return Measured(rows, {}, [], [])

    monkeypatch.setattr(run, "measure", measure)
    monkeypatch.setattr(
        Measured, "record", lambda self, name, params, found, n: Record(found, None)
    )
    [found] = FOUND.measure([Switches(turns=2)])
    values = found.counters.set_index(["counter", "step"])["value"]
    for number, setting in enumerate(SETTINGS):
        for turn in range(2):
            assert values[f"{setting}.swpout", 20 * turn + 7] == 1000 * turn + 100 * number
            assert values[f"{setting}.swpout_fallback", 20 * turn + 7] == 7
            assert values[f"{setting}.fail_4", 20 * turn + 20] == 1000 * turn + 100 * number
    assert len(values) == 2 * len(SETTINGS) * (2 * 20 + 16)


def test_turns_are_recorded():
    assert Switches() in IN_TURNS


def test_v3_is_told_from_v6_10():
    """The kernel that searches on splits other numbers of folios than the one that gives up."""
    for params in (params for params in IN_TURNS if params.cpus > 1):
        counters = FOUND.recorded(params).counters
        split = counters[counters["counter"].str.endswith(".swpout_fallback")]
        totals = split.groupby("counter")["value"].sum()
        assert 0 < totals["v3.swpout_fallback"] != totals["v6.10.swpout_fallback"] > 0
    assert any(params.cpus > 1 for params in IN_TURNS)


@pytest.mark.parametrize("params", IN_TURNS, ids=str)
def test_the_model_equals_the_kernel_in_every_turn(params):
    record = FOUND.recorded(params)
    assert record.provenance.kernel.patches and record.provenance.boots == 1
    joined = compare(FOUND.simulate(params), record.counters)
    assert exact(joined)
    runs = params.turns * len(settings(params))
    assert len(joined) == runs * (2 * params.iterations + 16)
