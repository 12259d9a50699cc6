"""The model's usemem: counts per folio, conservation, and a plain account of reclaim beside it."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.errors import RunFailed
from lorelab.numerics import U
from lorelab.swap.experiments.usemem import count
from lorelab.swap.model import reclaim
from lorelab.swap.model.reclaim import COUNTS, PLUG, Folio, shrink_folio
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap
from lorelab.swap.params import ForceSplit, Usemem, Variant
from lorelab.swap.workload import usemem

PATHS = {
    # order, split before asking, batched: invalidations, flushes, slot allocations, bios, splits
    "4K": ((0, False, False), (1, 1, 1, 1, 0)),
    "split up to 6.7": ((4, True, False), (32, 32, 16, 16, 1)),
    "split from 6.8": ((4, True, True), (32, 17, 16, 16, 1)),
    "whole 64K": ((4, False, False), (16, 1, 1, 1, 0)),
    "whole 2M": ((9, False, False), (513, 2, 1, 1, 0)),
}


@pytest.mark.parametrize("path", PATHS)
def test_one_folio_counts_what_its_path_says(path):
    (order, eager, batched), expected = PATHS[path]
    si = swapon(8 * 512, Variant.V3)
    counted, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    folio = Folio(order, 1 << order, eager, batched)
    assert shrink_folio(si, 0, folio, True, plug, counted)
    [row] = counted
    names = ("invalidations", "flushes", "slot_allocations", "bios", "splits")
    assert tuple(row[name] for name in names) == expected
    assert row["swapped"] == 1 << order
    assert row["fallbacks"] == 0


@pytest.mark.parametrize("order", [0, 4])
def test_a_folio_takes_its_slots_from_the_current_cluster_of_its_cpu(order):
    si = swapon(8 * 512, Variant.V3, cpus=3, slot_cache=False)
    counted, plug = np.zeros(1, COUNTS), np.zeros(3, PLUG)
    folio = Folio(order, 1 << order, False, True)
    assert shrink_folio(si, 2, folio, True, plug, counted)
    assert np.argwhere(si.percpu_next).tolist() == [[2, order]]
    assert plug["pages"].tolist() == [0, 0, 1 << order]


def test_a_pmd_folio_that_falls_back_is_frozen_with_one_invalidation():
    si = swapon(3 * 512, Variant.V3, slot_cache=False)
    for _ in range(2):
        assert folio_alloc_swap(si, U(0), U(9))
    counted, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    # the header's cluster has 511 slots for 512 pages
    assert not shrink_folio(si, 0, Folio(9, 512, False, False), True, plug, counted)
    [row] = counted
    assert row["fallbacks"] == row["splits"] == 1
    assert row["swapped"] == row["slot_allocations"] == 511
    assert row["invalidations"] == row["flushes"] == 1 + 511


def test_a_plug_merges_what_lies_in_a_row_up_to_1280_kib():
    plug, counted = np.zeros(1, PLUG), np.zeros(1, COUNTS)
    [row] = counted
    for offset in range(512, 512 + 640, 16):
        reclaim.writepage(offset, 16, 0, plug, counted)
    assert (row["bios"], row["requests"]) == (40, 2)
    reclaim.writepage(4096, 512, 0, plug, counted)
    assert (row["bios"], row["requests"]) == (41, 4)
    reclaim.writepage(4096 + 512, 16, 0, plug, counted)
    assert row["requests"] == 4
    reclaim.writepage(8192, 16, 0, plug, counted)
    assert row["requests"] == 5


def account(params):
    """The same reclaim with folios that have names: which go out, in which order, how often.

    A folio's name is its number and the CPU that touched it; `out` adds the one that reclaimed it.
    """
    pages = 1 << params.folio_order
    each = params.mib_each * 256 // pages
    cpus = [
        {"todo": [], "stock": 0, "wanted": 0, "list": [], "freed": 0} for _ in range(params.cpus)
    ]
    for process in range(params.processes):
        cpus[process % params.cpus]["todo"] += [None] * each
    lru, out, usage, reclaims, name = deque(), [], 0, 0, 0
    limit = params.memcg_mib * 256
    while any(cpu["todo"] for cpu in cpus):
        for here, cpu in enumerate(cpus):
            if cpu["list"]:
                out.append((*cpu["list"].pop(0), here))
                cpu["freed"] += pages
                if not cpu["list"]:
                    usage -= cpu["freed"]
                    cpu["wanted"], cpu["freed"] = max(0, cpu["wanted"] - cpu["freed"]), 0
            elif cpu["wanted"] and lru:
                while lru and len(cpu["list"]) * pages < 32:
                    cpu["list"].append(lru.popleft())
            elif cpu["wanted"]:
                cpu["wanted"] = 0
                for other in cpus:
                    usage, other["stock"] = usage - other["stock"], 0
            elif cpu["todo"]:
                if cpu["stock"] < pages:
                    for batch in (max(64, pages), pages):
                        if usage + batch <= limit:
                            usage += batch
                            cpu["stock"] += batch
                            break
                    else:
                        reclaims += 1
                        cpu["wanted"] = max(32, pages)
                        continue
                cpu["stock"] -= pages
                cpu["todo"].pop()
                lru.append((name, here))
                name += 1
    for here, cpu in enumerate(cpus):
        out += [(*folio, here) for folio in cpu["list"]]
    return out, reclaims, name


small = st.builds(
    lambda processes, cpus, mib_each, memcg, order, variant, batching: Usemem(
        processes=processes,
        cpus=cpus,
        mib_each=mib_each,
        memcg_mib=memcg,
        swap_mib=2 * processes * mib_each + 2 * cpus + 2,
        folio_order=order,
        variant=variant,
        split_batching=batching,
    ),
    st.integers(1, 6),
    st.integers(1, 5),
    st.sampled_from([2, 4, 6]),
    st.integers(2, 12),
    st.sampled_from([0, 2, 4, 6, 9]),
    st.sampled_from([Variant.V6_6, Variant.V3, Variant.V6_10, Variant.V6_12]),
    st.booleans(),
)


def check_account(params):
    found = count(params)
    out, reclaims, faults = account(params)
    pages = 1 << params.folio_order
    assert found["faults"] == faults
    assert found["faults"] * pages == params.processes * params.mib_each * 256
    assert found["resident"] + found["swapped"] == faults * pages
    assert found["swapped"] == len(out) * pages
    assert found["reclaims"] == reclaims
    assert sorted(number for number, _, _ in out) == list(range(len(out)))
    assert found["resident"] <= params.memcg_mib * 256
    assert found["aged"] == len(out) * (1 if params.folio_order == 9 else pages)


@settings(max_examples=40)
@given(small)
def test_pages_are_conserved_and_folios_leave_in_order_of_arrival(params):
    check_account(params)


FEW = {"processes": 3, "cpus": 2, "mib_each": 2, "memcg_mib": 2, "swap_mib": 32}
"""A usemem of 6 MiB."""


@pytest.mark.parametrize("order", [0, 4, 6, 9])
def test_the_account_of_6_mib(order):
    check_account(Usemem(**FEW, folio_order=order))


@settings(max_examples=40)
@given(small)
def test_every_page_out_took_a_slot_a_write_and_an_invalidation(params):
    found = count(params)
    split = found["splits"] * ((1 << params.folio_order) - 1)
    folios = found["swapped"] >> params.folio_order
    assert found["slot_allocations"] == found["bios"] == folios + split
    assert found["requests"] <= found["bios"] + (folios if params.folio_order == 9 else 0)
    assert found["invalidations"] >= found["swapped"]
    assert found["flushes"] >= found["bios"]
    if params.variant is not Variant.V6_6:
        assert found["splits"] == found["fallbacks"]


def check_waits(params, force_split):
    processes = min(params.processes, params.cpus)
    changes = {"processes": processes, "architecture": "x86", "force_split": force_split}
    changes |= {"variant": Variant.V6_12}
    params = Usemem.model_validate(params.model_dump() | changes)
    found = count(params)
    out, _, _ = account(params)
    pages, order = 1 << params.folio_order, params.folio_order
    own = sum(owner == here for _, owner, here in out)
    split = order > 0 and (
        force_split == ForceSplit.ALL or (force_split == ForceSplit.NOT_PMD_MAPPED and order < 9)
    )
    other, huge = len(out) - own, len(out) if order == 9 else 0
    times = 2 if split and order < 9 else 1
    assert found["splits"] == (len(out) if split else 0)
    assert found["invalidations"] == times * pages * len(out) + huge
    batched = params.split_batching or not split or order == 9
    assert found["deferred"] == pages * other * (times if batched else 1)
    waits = 1 if not split else pages if order == 9 else pages + (1 if batched else pages)
    assert found["flushes"] == other * waits + own * times * pages + huge


@settings(max_examples=30)
@given(small, st.sampled_from(ForceSplit))
def test_x86_waits_for_each_entry_of_a_process_that_only_runs_here(params, force_split):
    check_waits(params, force_split)


@pytest.mark.parametrize("force_split", [ForceSplit.NONE, ForceSplit.ALL])
def test_the_waits_of_6_mib(force_split):
    check_waits(Usemem(**FEW, folio_order=4, split_batching=True), force_split)


def test_on_arm64_nothing_but_a_split_without_batching_waits_for_each():
    params = Usemem(processes=3, cpus=2, mib_each=4, memcg_mib=4, swap_mib=32, variant="v6.12")
    found = count(params)
    assert found["deferred"] == found["invalidations"] == 16 * found["flushes"]


def test_the_scale_changes_nothing_per_page():
    few, many = (
        count(Usemem(processes=n, cpus=n, mib_each=16, memcg_mib=8 * n, swap_mib=64 * n))
        for n in (2, 16)
    )
    for name in ("invalidations", "flushes", "slot_allocations", "bios", "aged"):
        assert few[name] * many["swapped"] == many[name] * few["swapped"]


def test_the_next_folio_is_the_last_one_that_a_cpu_holds():
    """On x86 only that of the other CPU's process is deferred."""
    params = Usemem(**FEW | {"processes": 2}, folio_order=0, architecture="x86")
    machine, si = usemem.start(params), swapon(8 * 512, Variant.V3, cpus=2)
    machine.isolated[0, :3], machine.cpus["isolated"][0] = (0, 0, 1), 3
    for deferred, left in ((1, 2), (1, 1), (1, 0)):
        assert usemem.shrink_next(si, machine, 0, usemem.whole_folio(params))
        assert machine.cpus["isolated"][0] == left
        assert machine.count["deferred"][0] == deferred
    assert machine.count["flushes"][0] == machine.count["swapped"][0] == 3


def test_a_device_without_room_fails_and_says_what_to_do():
    params = Usemem(processes=2, cpus=2, mib_each=64, memcg_mib=65, swap_mib=64, folio_order=9)
    with pytest.raises(RunFailed, match="raise swap_mib"):
        count(params)


def test_a_plug_ends_with_the_reclaim_that_began_it():
    """Two folios of 64 KiB are the 32 pages of a reclaim, and no request reaches into the next."""
    few = Usemem(processes=1, cpus=1, mib_each=6, memcg_mib=2, swap_mib=16, folio_order=4)
    found = count(few.model_copy(update={"variant": Variant.V3}))
    assert found["bios"] * 16 == found["swapped"]
    assert found["requests"] == -(-found["swapped"] // 32) > 10
