"""swap/swapout and swap/instructions: the model's counts, and what was recorded from the kernel."""

import os
import runpy
from contextlib import nullcontext
from pathlib import Path

import pytest

from lorelab import agreement
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.lab import probes, records, run
from lorelab.lab.cache import KERNEL_FILES
from lorelab.params import parse
from lorelab.swap import kernel_swapout, swapout
from lorelab.swap.params import ForceSplit, Instructions, Swapout, Usemem

RECORDED = records.recorded("swap/swapout", Swapout)
COUNTED = records.recorded("swap/instructions", Instructions)
REPEATED = records.recorded("swap/usemem", Usemem)

FOLIOS = {
    # invalidations, flushes, splits, slots, pages written: of one 64 KiB folio
    "whole": ({}, (16, 1, 0, 1, 16)),
    "split": ({"force_split": "not-pmd-mapped"}, (32, 17, 1, 16, 16)),
    "split, no batch": (
        {"force_split": "not-pmd-mapped", "split_batching": False},
        (32, 32, 1, 16, 16),
    ),
    "whole, by itself": ({"reclaimer": "own"}, (16, 16, 0, 1, 16)),
    "split, by itself": (
        {"force_split": "not-pmd-mapped", "reclaimer": "own"},
        (32, 32, 1, 16, 16),
    ),
    "madvise splits": (
        {"dropped": 15, "force_split": "none", "reclaimer": "madvise"},
        (2, 2, 1, 1, 1),
    ),
    "4 KiB pages": ({"folio_order": 0, "folios": 512}, (1, 1, 0, 1, 1)),
    "2 MiB": ({"folio_order": 9, "folios": 8}, (513, 2, 0, 1, 512)),
    "2 MiB, split": (
        {"folio_order": 9, "folios": 8, "force_split": "all"},
        (1 + 512, 1 + 512, 1, 512, 512),
    ),
    "2 MiB, PMD mapped": (
        {"folio_order": 9, "folios": 8, "force_split": "not-pmd-mapped"},
        (513, 2, 0, 1, 512),
    ),
}

PARTLY = [
    {"dropped": dropped, "requests": requests, "force_split": force_split, "folios": 32}
    for dropped, force_split in ((15, "none"), (15, "partially-mapped"), (8, "none"))
    for requests in (1, 32)
]


@pytest.mark.parametrize("path", FOLIOS)
def test_a_folio_costs_what_its_path_says(path):
    changes, expected = FOLIOS[path]
    params = parse(Swapout, changes)
    found = swapout.count(params)
    names = ("invalidations", "flushes", "splits", "slot_allocations", "swapped")
    assert tuple(found[name] / params.folios for name in names) == expected
    assert found["bios"] == found["slot_allocations"]
    assert found["fallbacks"] == found["shrinker_splits"] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folio_order": 1}, "order 0, or 2 to 9"),
        ({"dropped": 16}, "one at least stays mapped"),
        ({"folios": 33}, "takes a multiple of 512 pages"),
        ({"folios": 8192}, "up to 65536"),
        ({"reclaimer": "kswapd"}, "reclaimer=kswapd"),
        ({"requests": 3}, "requests=3: .* a divisor of folios=256"),
        ({"requests": 2, "reclaimer": "madvise"}, "MADV_PAGEOUT asks nothing of memory.reclaim"),
    ],
)
def test_bad_parameters_are_named(given, said):
    with pytest.raises(BadInput, match=said):
        parse(Swapout, given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"series": False, "force_split": "all"}, "the unmodified kernel has no switches"),
        ({"dropped": 1}, "take dropped=0"),
        ({"reclaimer": "madvise"}, "take dropped=0"),
    ],
)
def test_instructions_are_of_whole_folios_on_a_kernel_that_can(given, said):
    with pytest.raises(BadInput, match=said):
        parse(Instructions, given)


def test_what_has_no_model_says_so():
    with pytest.raises(BadInput, match="swap/instructions has no model half"):
        experiment("swap/instructions").simulate(Instructions())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "variant=v3: the guest is an x86"),
        ({"variant": "v6.12"}, "architecture=arm64: the guest is an x86"),
        ({**kernel_swapout.IN_THE_GUEST, "processes": 3}, "processes=3"),
        ({**kernel_swapout.IN_THE_GUEST, "swap_mib": 1024}, "swap_mib=1024"),
    ],
)
def test_what_no_guest_can_follow(given, said):
    with pytest.raises(BadInput, match=said):
        kernel_swapout.usemem([parse(Usemem, given)])


def test_every_path_is_recorded():
    recorded = [params.model_dump() for params in RECORDED]
    for changes in [*(changes for changes, _ in FOLIOS.values()), *PARTLY]:
        wanted = parse(Swapout, changes).model_dump(exclude={"folios"})
        assert any(wanted == {k: r[k] for k in wanted} for r in recorded), changes
    assert {params.force_split for params in RECORDED if params.dropped} == set(ForceSplit)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_record_equals_the_model(params):
    found = experiment("swap/swapout")
    kernel = found.recorded(params).counters
    assert agreement.exact(agreement.compare(found.simulate(params), kernel))


@pytest.mark.parametrize("params", REPEATED, ids=str)
def test_a_repeated_record_has_the_model_in_its_range(params):
    found = experiment("swap/usemem")
    counted = found.recorded(params).counters
    assert set(counted["step"]) == set(range(1, 1 + kernel_swapout.ROUNDS["swap/usemem"]))
    compared = agreement.intervals(found.simulate(params), counted, found.per)
    assert set(compared["counter"]) >= {"invalidations", "flushes", "splits", "bios"}
    # Which entries are deferred depends on who meets whose pages; the model is one order of many.
    assert compared[compared["counter"] != "deferred"]["agrees"].all()
    judged = agreement.judged(compared, found.timing)
    assert set(compared[~judged]["counter"]) <= set(found.timing)
    if params.cpus == 1:
        assert judged.all() and compared["agrees"].all()
        assert (compared["low"] == compared["high"]).all()
    written = compared[compared["counter"].isin(["slot_allocations", "bios"])]
    assert (written["low"] == written["high"]).all()


def test_timing_is_shown_and_a_wrong_model_is_still_found():
    """Four CPUs and single pages: the share of deferred entries is the one that has a range."""
    found = experiment("swap/usemem")
    params = parse(Usemem, {**kernel_swapout.IN_THE_GUEST, "folio_order": 0})
    counted, model = found.recorded(params).counters, found.simulate(params)
    compared = agreement.intervals(model, counted, found.per)
    judged = agreement.judged(compared, found.timing)
    assert compared[~judged]["counter"].tolist() == ["deferred"]
    assert compared[judged]["agrees"].all()
    wrong = model.assign(value=model["value"] + (model["counter"] == "flushes"))
    compared = agreement.intervals(wrong, counted, found.per)
    judged = agreement.judged(compared, found.timing)
    assert compared[judged & ~compared["agrees"]]["counter"].tolist() == ["flushes"]


def test_repeats_of_one_cpu_are_recorded():
    assert {p.folio_order for p in REPEATED if p.cpus == 1} == {0, 4}


def test_one_repeat_says_nothing_of_a_range():
    table = experiment("swap/usemem").simulate(Usemem(**kernel_swapout.IN_THE_GUEST))
    assert agreement.intervals(table, table, "swapped")["agrees"].all()
    changed = table.assign(value=table["value"] + (table["counter"] == "flushes"))
    compared = agreement.intervals(changed, table, "swapped").set_index("counter")["agrees"]
    assert not compared["flushes"] and compared.drop("flushes").all()


def test_switches_that_nobody_turned_can_not_be_measured():
    """Patched against unmodified: no cost, known to 0.15 %."""
    found = experiment("swap/instructions")
    off = [params for params in COUNTED if not params.series]
    assert {params.folio_order for params in off} == {0, 4}
    for params in off:
        patched = params.model_copy(update={"series": True})
        records_ = [found.recorded(p) for p in (params, patched)]
        assert all(record.provenance.boots == kernel_swapout.BOOTS for record in records_)
        for counter in ("swapout", "swapin"):
            plain, with_series = (
                r.counters.loc[r.counters["counter"] == counter, "value"].tolist() for r in records_
            )
            low, _, high = agreement.quotient(plain, with_series)
            assert 0.9985 < low <= 1 <= high < 1.0015


def test_repeats_of_several_boots_follow_one_another():
    [params] = [p for p in COUNTED if p == Instructions()]
    record = experiment("swap/instructions").recorded(params)
    twice = kernel_swapout.pooled([record, record])
    repeats = record.counters["step"].max()
    assert twice.provenance.boots == 2
    for counter, table in twice.counters.groupby("counter", sort=False):
        values = record.counters.loc[record.counters["counter"] == counter, "value"].tolist()
        assert table["step"].tolist() == list(range(1, 2 * repeats + 1))
        assert table["value"].tolist() == 2 * values
    assert (twice.counters["counter"].unique() == record.counters["counter"].unique()).all()


def test_live_equals_the_record(laboratory, switched):
    """Boots the patched kernel, and counts what was counted before."""
    wanted = [Swapout(), Swapout(force_split=ForceSplit.NOT_PMD_MAPPED, split_batching=False)]
    for params, live in zip(wanted, kernel_swapout.swapout(wanted), strict=True):
        assert live.counters.equals(experiment("swap/swapout").recorded(params).counters)
        assert live.provenance.icount


def test_a_probe_tells_who_split(laboratory):
    """Boots the unmodified kernel: `shrink_folio_list()` and the shrinker have a count each."""
    params = Swapout(folios=32, dropped=15, requests=32)
    with run.probed(("swap_reclaim",)) as said:
        [live] = kernel_swapout.swapout([params])
    assert live.counters.equals(experiment("swap/swapout").recorded(params).counters)
    seen = probes.counters("swap/swapout", "v6.12", said["swap_reclaim"])
    seen = seen[seen["step"] == 0].set_index("counter")["value"]
    model = swapout.count(params)
    assert seen["swap_reclaim.splits_1"] == model["shrinker_splits"] == 22
    assert seen["swap_reclaim.splits_0"] == model["splits"] - model["shrinker_splits"]
    assert seen["swap_reclaim.lost"] == 0


class Came:
    """Stands for one run in the guest: what is missing of its folios, attempt by attempt."""

    def __init__(self, *missing):
        self.missing, self.attempts = list(missing), 0

    def __call__(self, wanted, instructions):
        self.attempts += 1
        return {"counters": self.attempts}, self.missing.pop(0)


def in_the_guest(monkeypatch, came):
    """Let the guest's program go through one run, on no machine."""
    guest = runpy.run_path(str(KERNEL_FILES / "guest" / "swapout.py"))["run"]
    for name in ("DEVICE", "THP"):
        monkeypatch.setitem(guest.__globals__, name, Path("/"))
    for name in ("prepare", "attach"):
        monkeypatch.setitem(guest.__globals__, name, lambda: None)
    monkeypatch.setitem(guest.__globals__, "swap", nullcontext)
    monkeypatch.setitem(guest.__globals__, "one", came)
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: None)
    wanted = {"switches": {}, "order": 4}
    return list(guest({"rounds": 1, "instructions": False, "runs": [wanted]}))


@pytest.mark.parametrize("missing", [{"folios": 1, "refused": 0}, {"folios": 0, "refused": 1}])
def test_a_run_whose_folios_did_not_come_is_done_again(monkeypatch, missing):
    whole = {"folios": 0, "refused": 0}
    [row] = in_the_guest(monkeypatch, Came(missing, missing, whole))
    assert row == {"run": 0, "round": 0, "counters": 3}
    with pytest.raises(RuntimeError, match="3 times folios of order 4 did not come"):
        in_the_guest(monkeypatch, Came(missing, missing, missing))


def test_single_pages_always_come(monkeypatch):
    [row] = in_the_guest(monkeypatch, Came({}))
    assert row["counters"] == 1
