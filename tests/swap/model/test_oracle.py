"""The oracle against what kernels printed, and against itself: a judge has to be beyond doubt."""

import pytest

from lorelab.lab import records
from lorelab.params import label
from lorelab.swap.params import AllocatorTest
from tests.swap.model.oracle import (
    CLUSTER_FLAG_FRAG,
    CLUSTER_FLAG_FREE,
    CLUSTER_FLAG_FULL,
    CLUSTER_FLAG_NONFULL,
    SWAP_CLUSTER_COLS,
    SWAP_HAS_CACHE,
    SWAPFILE_CLUSTER,
    Swap,
    folio_alloc_swap,
    free_swap_slot,
    swap_entry_range_free,
)
from tests.swap.workload.oracle_replay import thp_swap_allocator_test

NAME = "swap/allocator-test"
# The oracle has one CPU.
RECORDED = [p for p in records.recorded(NAME, AllocatorTest) if p.cpus == 1]


def check_invariants(si):
    """What holds between any two calls, whatever the calls were."""
    lists = {
        CLUSTER_FLAG_FREE: [si.free_clusters],
        CLUSTER_FLAG_NONFULL: si.nonfull_clusters,
        CLUSTER_FLAG_FRAG: si.frag_clusters,
        CLUSTER_FLAG_FULL: [si.full_clusters],
    }
    seen = []
    for flag, several in lists.items():
        for order, clusters in enumerate(several):
            seen += clusters
            for ci in clusters.values():
                assert ci.on is clusters
                assert ci.flags == flag
                assert len(several) == 1 or ci.order == order
    assert sorted(seen) == [ci.index for ci in si.cluster_info]
    for ci in si.cluster_info:
        slots = si.swap_map[ci.offset() : ci.offset() + SWAPFILE_CLUSTER]
        assert ci.count == SWAPFILE_CLUSTER - slots.count(0)
        assert (ci.flags == CLUSTER_FLAG_FREE) == (ci.count == 0)
        assert (ci.flags == CLUSTER_FLAG_FULL) == (ci.count == SWAPFILE_CLUSTER)
    assert si.frag_cluster_nr == [len(clusters) for clusters in si.frag_clusters]
    assert si.inuse_pages + si.swap_map.count(0) == si.pages
    assert si.inuse_pages + si.nr_swap_pages == si.pages
    assert si.available == (si.inuse_pages < si.pages) == (si.highest_bit > 0)
    cached = sum(len(cache.slots) + len(cache.slots_ret) for cache in si.swp_slots)
    assert cached == si.swap_map.count(SWAP_HAS_CACHE)


each_recorded = pytest.mark.parametrize(
    "params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True, mode="json"))
)


@each_recorded
def test_first_iterations_of_a_recorded_kernel_run(params):
    printed = iterations(params)[:5]
    assert replayed(params, len(printed)) == printed


@pytest.mark.in_turn
@each_recorded
def test_every_iteration_of_a_recorded_kernel_run(params):
    """Two seconds to a minute each, and neither half is made of the library's code."""
    printed = iterations(params)
    assert replayed(params, len(printed)) == printed


def iterations(params):
    """What a kernel printed: `swpout` and `swpout_fallback` of each iteration."""
    found = records.load(NAME, params).counters.pivot(
        index="step", columns="counter", values="value"
    )
    return list(found[["swpout", "swpout_fallback"]].itertuples(index=False, name=None))


def replayed(params, number):
    return thp_swap_allocator_test(
        params.options,
        params.seed,
        number,
        params.device_mib,
        params.large_swapin,
        params.slot_cache,
        params.free_cache,
        alloc_mode=label(params.alloc_mode),
        stealing=params.stealing,
        rotational=params.rotational,
    )


def test_there_are_recorded_runs():
    assert len(RECORDED) >= 4


def test_published_run_with_aligned_swapin():
    """-a on the lists that 6.12 has, with order-0 swap-in as kernels had it then."""
    rows = thp_swap_allocator_test("-a", iterations=3, large_swapin=False)
    assert rows == [(224, 0), (231, 0), (227, 0)]


@pytest.mark.parametrize(
    ("options", "totals"),
    [("", [233, 232, 226, 223]), ("-a", [224, 231, 227]), ("-a -s", [224, 218, 222])],
)
def test_published_totals(options, totals):
    """How many 64 KiB folios an iteration swaps out does not depend on the allocator."""
    rows = thp_swap_allocator_test(options, iterations=len(totals), large_swapin=False)
    assert [swpout + fallback for swpout, fallback in rows] == totals


@pytest.mark.parametrize("large_swapin", [True, False])
@pytest.mark.parametrize("options", ["", "-a", "-s", "-a -s"])
def test_invariants_hold_in_the_replay(options, large_swapin):
    thp_swap_allocator_test(options, 1, 3, large_swapin=large_swapin, check=check_invariants)


def test_another_seed_gives_another_run():
    assert thp_swap_allocator_test(seed=1, iterations=2) != thp_swap_allocator_test(
        seed=2, iterations=2
    )


def test_free_clusters_are_interleaved():
    """With 32 columns: 0 (has the header, so not free), 32, 64, then 1, 33, 65, and so on."""
    assert SWAP_CLUSTER_COLS == 32
    free = list(Swap(70 * SWAPFILE_CLUSTER).free_clusters)
    assert free[:8] == [32, 64, 1, 33, 65, 2, 34, 66]
    assert free[-2:] == [31, 63]


def test_a_partial_last_cluster_is_never_free():
    si = Swap(3 * SWAPFILE_CLUSTER + 5)
    assert si.cluster_info[3].count == SWAPFILE_CLUSTER - 5
    assert list(si.nonfull_clusters[0]) == [0, 3]
    assert list(si.free_clusters) == [1, 2]


def test_order_0_takes_every_slot():
    si = Swap(2 * SWAPFILE_CLUSTER + 7, cpus=2)
    taken = [folio_alloc_swap(si, n % 2, 0) for n in range(si.pages)]
    assert sorted(taken) == list(range(1, si.max))
    assert folio_alloc_swap(si, 0, 0) == 0


def test_order_0_steals_only_when_nothing_else_is_left():
    si = Swap(2 * SWAPFILE_CLUSTER, slot_cache=False, free_cache=False)
    large = folio_alloc_swap(si, 0, 4)
    assert large == SWAPFILE_CLUSTER
    small = [folio_alloc_swap(si, 0, 0) for _ in range(SWAPFILE_CLUSTER - 1)]
    assert small == list(range(1, SWAPFILE_CLUSTER))
    assert folio_alloc_swap(si, 0, 0) == SWAPFILE_CLUSTER + 16
    assert si.cluster_info[1].order == 4


def test_a_large_folio_fails_where_every_second_slot_is_taken():
    si = Swap(2 * SWAPFILE_CLUSTER, slot_cache=False, free_cache=False)
    small = [folio_alloc_swap(si, 0, 0) for _ in range(si.pages)]
    for slot in small[::2]:
        free_swap_slot(si, 0, slot)
    assert folio_alloc_swap(si, 0, 1) == 0
    assert folio_alloc_swap(si, 0, 0) != 0


def test_freed_slots_wait_in_the_cache_until_it_is_full():
    si = Swap(64 * SWAPFILE_CLUSTER)
    slots = [folio_alloc_swap(si, 0, 0) for _ in range(65)]
    before = si.nr_swap_pages
    for slot in slots[:64]:
        free_swap_slot(si, 0, slot)
    assert si.nr_swap_pages == before
    free_swap_slot(si, 0, slots[64])
    assert si.nr_swap_pages == before + 64
    check_invariants(si)


def test_freeing_everything_leaves_the_counts_of_a_fresh_device():
    si = Swap(8 * SWAPFILE_CLUSTER, slot_cache=False, free_cache=False)
    orders = [0, 9, 4, 2, 4, 0, 1, 8]
    ranges = [(folio_alloc_swap(si, 0, order), 1 << order) for order in orders]
    for offset, nr in ranges:
        swap_entry_range_free(si, offset, nr)
    assert [ci.count for ci in si.cluster_info] == [1] + [0] * 7
    assert si.nr_swap_pages == si.pages
    check_invariants(si)
