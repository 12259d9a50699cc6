"""Wrong segments among those that overtake: between the model's number and all that left."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lorelab import counters
from lorelab.experiments import experiment
from lorelab.gso.agree import tcp as agree_tcp
from lorelab.gso.agree import traffic as agree_traffic
from lorelab.gso.agree import vhost as agree_vhost
from lorelab.gso.agree.measured import NOWHERE
from lorelab.gso.agree.traffic import agree
from lorelab.gso.experiments import vhost as guest
from lorelab.gso.kernel import tcp
from lorelab.gso.model.traffic import PROBED
from lorelab.gso.params import Tcp, Traffic, Vhost
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records, run

ASKED = experiment("gso/traffic")


def changed(params, **values):
    """The recorded run with other counters, which begin as the model's."""
    record = ASKED.recorded(params)
    table = ASKED.simulate(params)
    for name, value in values.items():
        table.loc[table["counter"] == name, "value"] = value
    return agree(params, record._replace(counters=table))


LATE = Traffic(variant="head-only", held=True, loss=5, reorder=10)
"""1,385 of 1,517 segments are wrong in the model."""


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [(1385, "passed"), (1386, "passed"), (1384, "failed"), (1600, "failed")],
)
def test_the_model_has_the_least(wrong, verdict):
    assert changed(LATE, wrong=wrong).verdict == AgreementVerdict(verdict)


def test_other_counters_have_to_be_equal_there_too():
    found = changed(LATE, wrong=1390, completions=39)
    assert found.verdict == AgreementVerdict.FAILED
    agrees = found.table.set_index("counter")["agrees"]
    assert agrees["wrong"] and not agrees["completions"]


def test_bounds_that_are_far_apart_decide_nothing():
    few = Traffic(variant="last-segment", held=True, loss=5, reorder=10)
    assert changed(few).verdict == AgreementVerdict.PASSED
    assert changed(few, wrong=102).verdict == AgreementVerdict.UNDECIDED


def test_without_overtaking_every_wrong_segment_is_the_model_s():
    held = Traffic(variant="head-only", held=True)
    assert changed(held).verdict == AgreementVerdict.PASSED
    wrong = int(ASKED.simulate(held).set_index("counter")["value"]["wrong"])
    assert changed(held, wrong=wrong - 1).verdict == AgreementVerdict.FAILED


def test_none_may_be_wrong_of_a_design_that_keeps_its_pages():
    safe = Traffic(held=True, loss=5, reorder=10)
    assert changed(safe).verdict == AgreementVerdict.PASSED
    assert changed(safe, wrong=1).verdict == AgreementVerdict.FAILED


@pytest.mark.parametrize("wrong", [1517, 1518])
def test_no_more_can_be_wrong_than_left(wrong):
    assert (changed(LATE, wrong=wrong).verdict == AgreementVerdict.PASSED) == (wrong == 1517)


def test_bounds_decide_that_are_as_far_apart_as_allowed(monkeypatch):
    monkeypatch.setattr(agree_traffic, "WITHIN", 1517 / 1385 - 1)
    assert changed(LATE, wrong=1400).verdict == AgreementVerdict.PASSED
    monkeypatch.setattr(agree_traffic, "WITHIN", 1517 / 1385 - 1.001)
    assert changed(LATE, wrong=1400).verdict == AgreementVerdict.UNDECIDED


def test_what_was_not_measured_is_named_and_not_compared():
    params = Traffic()
    record, table = ASKED.recorded(params), ASKED.simulate(params)
    short = table[~table["counter"].isin(["wrong", "holds", *NOWHERE])]
    held = agree(params, record._replace(counters=short))
    assert held.verdict == AgreementVerdict.PASSED
    assert set(held.table["counter"]) == set(PROBED) - {"wrong", "holds"}
    assert held.method == (
        "step by step, of 9 counters: 9 of 9 values are equal; "
        "not measured: wrong, holds, tap_wrong, copied_by_send"
    )
    other = short.assign(value=short["value"] + (short["counter"] == "clones"))
    assert agree(params, record._replace(counters=other)).verdict == AgreementVerdict.FAILED
    late = ASKED.simulate(LATE)
    unread = record._replace(counters=late[late["counter"] != "wrong"])
    held = agree(LATE, unread)
    assert held.verdict == AgreementVerdict.UNDECIDED
    assert "only the model has it: wrong" in held.method


def test_what_the_model_lacks_is_undecided_and_named():
    params = Vhost()
    more = guest.simulate(params)
    more = record_of(more, counters.table("gso/vhost", "upstream", "kernel", {"x": ("", [1])}, 0))
    held = agree_vhost.agree(params, more)
    assert held.verdict == AgreementVerdict.UNDECIDED
    assert held.method.endswith("; not compared, for only the kernel has it: x")


def record_of(*tables):
    return SimpleNamespace(counters=pd.concat(tables, ignore_index=True))


def booted(monkeypatch, rows):
    """Let a boot give these rows by link; what it was asked for."""
    asked = []

    def measure(request, options):
        runs = request.job.params["runs"]
        links = [run["link"] for run in runs]
        asked.append((bool(request.machine.qemu), links, request.patched))
        made = [rows(run) for run in runs]
        return SimpleNamespace(rows=made, record=lambda *of: SimpleNamespace(counters=of[2], of=of))

    monkeypatch.setattr(run, "measure", measure)
    return asked


def test_runs_of_a_link_share_a_boot_and_have_what_the_guest_said(monkeypatch):
    def rows(run):
        row = dict.fromkeys(PROBED, run["sends"]) | {"pending": 0, "ns": 5}
        return row if run["link"] != "dummy" else {k: v for k, v in row.items() if k != "wrong"}

    asked = booted(monkeypatch, rows)
    wanted = [
        Traffic(sends=1),
        Traffic(sends=2, held=True),
        Traffic(sends=3, received=True),
        Traffic(sends=4),
    ]
    found = ASKED.measure(wanted)
    assert asked == [
        (False, ["dummy", "dummy"], True),
        (False, ["veth"], True),
        (True, ["wire"], True),
    ]
    for params, record, number in zip(wanted, found, (1, 1, 1, 2), strict=True):
        assert record.of[1] == params and record.of[3] == number
        values = record.counters.set_index("counter")["value"]
        assert set(values) == {params.sends}
        is_read = params.held or params.received
        assert set(values.index) == set(PROBED) - (set() if is_read else {"wrong"})


@pytest.mark.parametrize("name", ["gso/traffic", "gso/probed"])
def test_what_nobody_reads_has_no_count_of_what_is_wrong_with_it(name):
    runs = [(None, params) for params in records.recorded(name, Traffic)]
    runs += records.others(name, Traffic)
    for release, params in runs:
        counted = set(records.load(name, params, release=release).counters["counter"])
        assert ("wrong" in counted) == (params.held or params.received), (release, params)
    assert len({params.held or params.received for _, params in runs}) == 2


@pytest.mark.parametrize("inlined", [False, True])
def test_a_stream_whose_copies_cannot_be_counted(monkeypatch, inlined):
    params = Tcp(sends=2)
    row = {"told": 2, "read_bytes": 112_000, "wrong": 0, "complaints": {}, "copies": 0}
    booted(monkeypatch, lambda _: {k: v for k, v in row.items() if k != "copies" or not inlined})
    [record] = tcp.measure([params])
    assert ("copies" in set(record.counters["counter"])) == (not inlined)
    held = agree_tcp.agree(params, record)
    assert held.verdict == AgreementVerdict.PASSED
    assert held.method.endswith("; not measured: copies") == inlined
