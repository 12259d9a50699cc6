"""Each bound of allocator, reclaim and page cache by itself: a case on either side of it."""

import numpy as np
import pytest

from lorelab.fairzone.model import filemap, page_alloc, pcp, vmscan, vmstat, zones
from lorelab.fairzone.model.lru import ACTIVE, INACTIVE
from lorelab.fairzone.params import Fair, Variant
from lorelab.fairzone.workload import files
from lorelab.numerics import U
from tests.fairzone.model.test_filemap import CPU, listed, machine


def counted(node):
    return dict(zip(zones.COUNTS, node.count.tolist(), strict=True))


def local(variant, remote=None):
    """Three zones that all take part, each a page above what it keeps, and counters that are exact.

    None of them is depleted, and each counter is at 5.
    """
    node = zones.make([400, 900, 1600], variant, 2, 512, True, remote)
    node.zone["free"] = node.zone["low"] + node.lowmem_reserve[:, 2] + 1
    node.zone["nr_alloc_batch"] = 5
    return node


def deplete(node, *which):
    for z in which:
        node.zone["nr_alloc_batch"][z], node.zone["depleted"][z] = 0, 1


class TestTheSecondPatchOf25June:
    """Depleted zones are used again, and a reset leaves the others alone."""

    @pytest.mark.parametrize(("low", "used"), [((), 2), ((2,), 1), ((2, 1), 0)])
    def test_the_first_depleted_zone_above_its_watermark_is_used_again(self, low, used):
        node = local(Variant.JUNE_25)
        deplete(node, 0, 1, 2)
        for z in low:
            node.zone["free"][z] -= 1
        assert page_alloc.alloc_fast(node, CPU, False) == used
        # Those behind it are skipped before anybody looks at their free pages.
        assert counted(node)["skips_watermark"] == len(low)
        assert counted(node)["skips_batch"] == used + 1
        assert counted(node)["resets"] == 1

    def test_a_zone_that_is_not_depleted_keeps_its_counter(self):
        node = local(Variant.JUNE_25)
        deplete(node, 2)
        node.zone["free"][:2] -= 1
        assert page_alloc.alloc_fast(node, CPU, False) == 2
        batch = int(node.zone["batch"][2])
        assert node.zone["nr_alloc_batch"].tolist() == [5, 5, batch - 1]


@pytest.mark.parametrize("skips", [False, True])
def test_4_7_goes_on_to_the_other_node_only_if_it_skipped_no_zone(skips):
    node = local(Variant.V4_7, [300, 500])
    node.zone["free"][:3] -= 1
    node.zone["free"][3:] = node.zone["managed"][3:]
    if skips:
        deplete(node, 1)
    assert page_alloc.alloc_fast(node, CPU, False) == 4
    found = counted(node)
    assert (found["passes"], found["resets"]) == ((2, 1) if skips else (1, 0))
    assert found["spills"] == 1


def test_4_7_does_not_go_over_zones_again_that_it_asked_without_a_batch():
    node = local(Variant.V4_7, [300, 500])
    node.zone["free"] = 0
    assert page_alloc.alloc_fast(node, CPU, False) == zones.NONE
    found = counted(node)
    assert (found["skips_watermark"], found["skips_batch"]) == (5, 0)
    assert (found["passes"], found["resets"], found["rescans"]) == (1, 0, 0)


@pytest.mark.parametrize("more", [0, 1])
def test_v1_reachable_asks_a_zone_that_has_a_page_to_give(more):
    """A zone whose pages are all kept from the class does not hold the reset up."""
    node = local(Variant.V1_REACHABLE)
    deplete(node, 1, 2)
    node.zone["free"][0] -= 1
    kept = int(node.zone["low"][0] + node.lowmem_reserve[0, 2])
    node.zone["managed"][0] = kept + more
    page_alloc.alloc_fast(node, CPU, False)
    assert counted(node)["resets"] == 1 - more


@pytest.mark.parametrize("variant", [Variant.NODE_LRU, Variant.OFF])
def test_the_dirty_limit_is_of_the_node_or_of_the_zone(variant):
    """20 % of what may be dirty; of all zones of a node since 4.8, of no other node's."""
    node = zones.make([1000, 2000], variant, 1, 0, True, [3000])
    node.zone["dirty_reserve"] = [100, 300, 0]
    of_node = variant == Variant.NODE_LRU
    limit = 20 * (900 + 1700) // 100 if of_node else 20 * 1700 // 100
    node.zone["dirty"] = [200 * of_node, limit - 200 * of_node, 3000]
    assert page_alloc.zone_dirty_ok(node, U(1))
    node.zone["dirty"][0] += 1
    assert page_alloc.zone_dirty_ok(node, U(1)) == (not of_node)
    node.zone["dirty"][1] += 1
    assert not page_alloc.zone_dirty_ok(node, U(1))


class TestZones:
    @pytest.mark.parametrize(
        ("managed", "cpus", "threshold"),
        [
            # mm/vmstat.c: 2 fls(cpus) (1 + fls(zone in 128 MiB)), and no more than 125.
            *((32767, 1, 2), (32768, 1, 4), (65535, 1, 4), (65536, 1, 6)),
            *((32768, 2, 8), (32768, 4, 12), (32768 << 4, 512, 120), (32768 << 5, 256, 125)),
        ],
    )
    def test_threshold_of_a_counter(self, managed, cpus, threshold):
        assert zones.calculate_normal_threshold(managed, cpus) == threshold

    @pytest.mark.parametrize(
        ("managed", "step", "most"), [(32767, 2, 22), (1 << 18, 10, 110), (1 << 20, 14, 125)]
    )
    def test_a_threshold_grows_with_each_doubling_of_the_cpus_up_to_125(self, managed, step, most):
        found = [zones.calculate_normal_threshold(managed, cpus) for cpus in range(1, 1025)]
        for doublings in range(10):
            at = found[(1 << doublings) - 1 : (2 << doublings) - 1]
            assert at == [min(125, step * (1 + doublings))] * (1 << doublings)
        assert found[-1] == most

    def test_another_node_keeps_from_the_local_class_what_it_keeps_from_its_own(self):
        node = zones.make([0, 5120, 7680], Variant.V3_12, 1, 512, False, [2560, 25600])
        # 100 pages of the other's lower zone; the local one keeps 30.
        assert node.lowmem_reserve[:, 1].tolist() == [30, 0, 100, 0]
        assert node.lowmem_reserve[:, 3].tolist() == [0, 0, 100, 0]

    @pytest.mark.parametrize("dma", [99, 100])
    def test_a_sixteenth_of_the_node_takes_part(self, dma):
        node = zones.make([dma, 700, 1600 - 700 - dma], Variant.JUNE_25)
        assert node.zone["takes_part"].tolist() == [dma == 100, 1, 1]
        assert node.info["fair"][0] == Fair.FIRST_PASS, "two zones are several"

    @pytest.mark.parametrize(("managed", "enough"), [(130, False), (131, True)])
    def test_a_zone_serves_with_a_page_above_min_and_reserve(self, managed, enough):
        reserves = np.array([[0, 30], [0, 0]])
        marks = [(100, 110, 120), (50, 60, 70)]
        assert zones.serves([managed, 50], marks, reserves) is enough

    def test_marks_are_a_quarter_of_min_or_the_factor_apart(self):
        # 1000 pages of min; 250 is 10/10000 of 250,000 pages.
        assert zones.watermarks([250_000], 4000, 10) == [(1000, 1250, 1500)]
        assert zones.watermarks([249_000], 4000, 10) == [(1000, 1250, 1500)]
        assert zones.watermarks([251_000], 4000, 10) == [(1000, 1251, 1502)]


class TestListsOfACpu:
    @pytest.mark.parametrize(
        ("managed", "batch"),
        [(4095, 0), (4096, 0), (8192, 1), (11264, 1), (12288, 3), (65536, 15), (1 << 18, 63)],
    )
    def test_batch(self, managed, batch):
        """A 4096th and half of it, down to a power of two, less 1: 63 from 1 GiB on."""
        assert pcp.zone_batchsize(managed) == batch
        assert pcp.zone_batchsize(1 << 24) == 63

    def test_what_was_freed_is_counted_up_to_32_batches(self):
        node = zones.make([50_000], Variant.NODE_LRU, 2)
        zone = node.zone[0]
        zone["pcp_batch"] = 15
        for freed in (479, 1, 1):
            for _ in range(freed):
                pcp.free_unref_page(zone)
            assert zone["pcp_free_count"] == (479 if freed == 479 else 480)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_part_is_folded_above_its_threshold(self, sign):
        node = zones.make([1000], Variant.NODE_LRU, 2)
        zone = node.zone[0]
        zone["free_threshold"] = 4
        pcp.account_freepages(zone, 4 * sign)
        assert (zone["free"], zone["free_diff"]) == (1000, 4 * sign)
        pcp.account_freepages(zone, sign)
        assert (zone["free"], zone["free_diff"]) == (1000 + 5 * sign, 0)


class TestReclaim:
    @pytest.mark.parametrize("managed", [901, 1000])
    @pytest.mark.parametrize("low", [9, 10, 11])
    @pytest.mark.parametrize("reserves", [True, False])
    def test_a_zone_has_enough_above_high_gap_and_reserve(self, managed, low, reserves):
        """The gap is a hundredth of the zone, 10 of 901 pages, or low if that is less."""
        node = zones.make([managed, 2000], Variant.OFF, 1, 0, True)
        node.zone["high"], node.zone["low"] = 40, low
        mm = filemap.make(node, 10, balance_reserves=reserves)
        mm.kswapd["end_zone"], mm.kswapd["priority"] = 1, 12
        enough = 40 + (min(low, 10) + 2000 // 256 if reserves else 0)
        for free in (enough, enough + 1):
            node.zone["free"][0] = free
            assert vmscan._start_zone(mm, U(0)) == (free == enough)

    @pytest.mark.parametrize("variant", [Variant.OFF, Variant.NODE_LRU])
    @pytest.mark.parametrize("high", [31, 32, 33])
    def test_kswapd_frees_high_but_a_cluster_at_least(self, variant, high):
        node = zones.make([100, 200], variant, 1, 0, True)
        node.zone["high"], node.zone["free"] = high, 0
        mm = filemap.make(node, 10)
        assert vmscan._start_zone(mm, U(0))
        zones_of_it = 2 if variant == Variant.NODE_LRU else 1
        assert mm.scan["to_reclaim"][0] == zones_of_it * max(high, 32)

    @pytest.mark.parametrize(("priority", "then"), [(3, 2), (2, 1), (1, 12)])
    def test_the_last_priority_is_1(self, priority, then):
        mm = machine()
        filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40))
        mm.node.zone["high"] = 64
        mm.kswapd["priority"], mm.kswapd["raise_priority"] = priority, 1
        vmscan._end_round(mm)
        assert mm.kswapd["priority"][0] == then
        assert counted(mm.node)["pageoutrun"] == (then == 12)

    def test_kswapd_that_is_woken_begins_at_priority_12(self):
        mm = machine()
        mm.node.zone["high"] = 64
        vmscan.wake_all_kswapds(mm)
        assert mm.kswapd["priority"][0] == 12

    @pytest.mark.parametrize(("cached", "then"), [(64, 1), (62, 0)])
    def test_a_round_that_looks_at_high_keeps_its_priority(self, cached, then):
        """At priority 1 it looks at a half of the list: 32 pages, as many as high, or 31."""
        mm = machine(managed=(0, 64), pages=64)
        filemap.do_page_cache_readahead(mm, CPU, U(0), U(cached), U(64))
        mm.node.zone["high"] = 64
        vmscan.wake_all_kswapds(mm)
        mm.node.zone["high"], mm.kswapd["priority"], mm.credit[0] = 32, 1, 32 * 1024 + 1
        vmscan.kswapd(mm)
        assert mm.kswapd["priority"][0] == then

    @pytest.mark.parametrize(("failures", "at_once"), [(14, 1), (15, 1), (15, 0)])
    def test_kswapd_gives_up_after_16_runs_in_vain(self, failures, at_once):
        mm = machine()
        filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40))
        mm.node.zone["high"] = 64
        state = mm.kswapd
        state["priority"], state["failures"], state["at_once"] = 1, failures, at_once
        vmscan._end_round(mm)
        assert state["failures"][0] == failures + 1
        assert (mm.failed[0] == vmscan.HOPELESS) == (failures == 15 and at_once == 1)

    @pytest.mark.parametrize("wanted", [32, 33])
    def test_a_scan_ends_once_as_many_are_freed_as_were_wanted(self, wanted):
        mm = machine(managed=(0, 64), pages=64)
        filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40))
        scan = mm.scan[0]
        scan["inactive"], scan["to_reclaim"] = 40, wanted
        assert vmscan.shrink_lruvec_chunk(mm, scan, U(0)) == 32
        assert mm.scan["inactive"][0] == (0 if wanted == 32 else 8)

    @pytest.mark.parametrize(
        ("said", "freed"), [(64 << 12, 64), (32 << 12, 32), (31 << 12, 31 + 32)]
    )
    def test_direct_reclaim_does_the_whole_of_its_first_scan_only(self, said, freed):
        """At priority 12 all that it wants to look at, though 32 pages are enough."""
        mm = machine(managed=(0, 160), pages=160)
        filemap.do_page_cache_readahead(mm, CPU, U(0), U(140), U(160))
        mm.frames.nr[0, int(INACTIVE)] = said
        assert vmscan.try_to_free_pages(mm) == freed

    @pytest.mark.parametrize("active", [2, 3])
    def test_as_many_active_as_inactive_pages_are_not_too_many(self, active):
        mm = machine(managed=(0, 64))
        for page in [*range(active + 2), *range(active)]:
            filemap.write_page(mm, CPU, U(page))
        assert (len(listed(mm, 0, 1)), len(listed(mm, 0, 0))) == (active, 2)
        assert vmscan.inactive_file_is_low(mm.frames, U(0)) == (active == 3)


class TestPageCache:
    @pytest.mark.parametrize("age", [1 << 20, 1, (1 << 28) + 1], ids=["plain", "wraps", "beyond"])
    @pytest.mark.parametrize("lru", [0, 1])
    @pytest.mark.parametrize("since", [0, 3, 4])
    def test_a_page_comes_back_active_if_as_many_went_as_are_active(self, since, lru, age):
        """Three are; evictions are counted in 28 bits, and the count goes round."""
        mm = machine(managed=(30, 34) if lru else (64, 0))
        for page in (*range(5), *range(3)):
            filemap.write_page(mm, CPU, U(page))
        mm.frames.inactive_age[lru] = age
        mm.map[20] = (1 << 31) | lru << 28 | (age - since) % (1 << 28)
        filemap.do_page_cache_readahead(mm, CPU, U(20), U(1), U(40))
        assert (20 in listed(mm, lru, int(ACTIVE))) == (since <= 3)
        assert (20 in listed(mm, lru, int(INACTIVE))) == (since > 3)

    def test_pages_are_written_in_their_order_where_the_ring_goes_round(self):
        mm = machine(pages=120, managed=(30, 34))
        for page in range(50):
            filemap.write_page(mm, CPU, U(page))
        filemap.writeback(mm, U(50))
        filemap.drop_caches(mm)
        for page in range(60, 90):
            filemap.write_page(mm, CPU, U(page))
        for written in (14, 15, 30):
            filemap.writeback(mm, U(50 + written) - mm.disk[1])
            frames = mm.map[60:90].astype(np.int64) - 1
            dirty = mm.frames.flags[frames] & filemap.PG_DIRTY != 0
            assert dirty.tolist() == [False] * written + [True] * (30 - written)
        assert mm.node.zone["dirty"].sum() == 0


@pytest.mark.parametrize(
    ("variant", "cpus", "flagged"),
    [
        (Variant.MERGED, 2, True),
        (Variant.FIXED, 2, True),
        (Variant.FIXED, 1, True),
        # -1 is a very large number there: mended in September 2014.
        (Variant.MERGED, 1, False),
    ],
)
def test_a_batch_that_begins_at_0_is_used_with_the_first_page(variant, cpus, flagged):
    """Zones whose min is below 2 pages have low and high alike, and a batch of 0."""
    node = zones.make([400, 900], variant, cpus, 8)
    assert node.zone["batch"].tolist() == [0, 0] and not node.zone["depleted"].any()
    assert page_alloc.alloc_fast(node, CPU, False) == 1
    assert node.zone["depleted"].tolist() == [0, flagged]
    assert page_alloc.alloc_fast(node, CPU, False) == (0 if flagged else 1)


@pytest.mark.parametrize("variant", [Variant.MERGED, Variant.FIXED, Variant.JUNE_25])
def test_the_allocation_that_uses_a_batch_up_sets_the_flag(variant):
    node = local(variant)
    for left, flagged in ((2, 0), (1, 1)):
        node.zone["nr_alloc_batch"][2], node.zone["depleted"][2] = left, 0
        page_alloc.buffered_rmqueue(node, U(2), CPU)
        assert node.zone["nr_alloc_batch"][2] == left - 1
        assert node.zone["depleted"][2] == flagged


@pytest.mark.parametrize("writes", [False, True])
def test_of_two_threads_each_has_a_cpu_of_its_own(writes):
    """Four pages of each thread stay uncounted on its CPU; the fifth folds them."""
    node = zones.make([400, 900], Variant.BASELINE, 2, 512)
    batch = int(node.zone["batch"][1])
    mm = filemap.make(node, 40)
    for begin, until, counted_of, parts in ((0, 4, 0, [-4, -4]), (4, 5, 10, [0, 0])):
        numbers = (begin, until, 0, 20, 2, 1, 1)
        files.sequential(mm, *(U(n) for n in numbers), 1024, writes)
        assert node.percpu[1].tolist() == parts
        assert node.zone["nr_alloc_batch"][1] == batch - counted_of


@pytest.mark.parametrize(
    ("variant", "passes", "resets"),
    [
        (Variant.BASELINE, 2, 1),
        (Variant.MERGED, 2, 1),
        (Variant.V4_7, 2, 1),
        (Variant.JUNE_25, 1, 0),
    ],
)
def test_a_node_of_one_zone_beside_another_node(variant, passes, resets):
    """Only the series of June 2014 leaves such a node without a fair pass."""
    node = zones.make([900], variant, 2, 512, True, [512, 256])
    assert node.lowmem_reserve[:, 0].tolist() == [0, 1, 0], "256 pages above, of which 1/256"
    deplete(node, 0)
    assert page_alloc.alloc_fast(node, CPU, False) == 0
    found = counted(node)
    assert (found["passes"], found["resets"], found["spills"]) == (passes, resets, 0)


@pytest.mark.parametrize("over", [0, 1])
def test_a_part_of_a_batch_is_folded_above_its_threshold_on_each_cpu(over):
    node = zones.make([400, 900], Variant.BASELINE, 2, 512)
    fold = int(node.zone["threshold"][1])
    assert fold == 2 * 2 * 1
    for cpu in (U(0), U(1)):
        for _ in range(fold + over):
            page_alloc.buffered_rmqueue(node, U(1), cpu)
    batch = int(node.zone["batch"][1])
    assert node.zone["nr_alloc_batch"][1] == batch - 2 * over * (fold + 1)
    assert node.percpu[1].tolist() == [0 if over else -fold] * 2


@pytest.mark.parametrize("variant", [Variant.V3_12, Variant.V3_13])
def test_3_12_resets_the_other_node_s_batches_too(variant):
    node = local(variant, [300, 500])
    deplete(node, 1, 3, 4)
    page_alloc.reset_alloc_batches(node, CPU)
    batch = node.zone["batch"].tolist()
    assert all(batch)
    kept = batch[3:] if variant == Variant.V3_12 else [0, 0]
    assert node.zone["nr_alloc_batch"].tolist() == batch[:3] + kept


@pytest.mark.parametrize("remote", [None, [300, 500], [500]])
def test_a_fair_pass_without_a_reset_is_followed_by_another_only_with_a_second_node(remote):
    node = local(Variant.MERGED, remote)
    node.zone["free"] = 0
    assert page_alloc.alloc_fast(node, CPU, False) == zones.NONE
    found = counted(node)
    assert found["resets"] == 0
    assert (found["passes"], found["rescans"]) == ((2, 1) if remote else (1, 0))


@pytest.mark.parametrize("left", [False, True])
def test_18_june_resets_if_all_are_depleted_but_not_for_a_zone_full_of_dirty_pages(left):
    node = local(Variant.JUNE_18)
    deplete(node, *([1, 2] if left else [0, 1, 2]))
    node.zone["dirty"][0] = node.zone["managed"][0]
    page_alloc.alloc_fast(node, CPU, True)
    assert counted(node)["skips_watermark"] == 0
    assert counted(node)["resets"] == (0 if left else 1)


@pytest.mark.parametrize("over", [0, 1])
def test_what_a_reset_adds_is_folded_above_the_threshold_too(over):
    node = zones.make([400, 900], Variant.BASELINE, 2, 512)
    fold = int(node.zone["threshold"][1])
    node.zone["nr_alloc_batch"][1] = node.zone["batch"][1] - fold - over
    page_alloc.reset_alloc_batches(node, CPU)
    assert node.zone["nr_alloc_batch"][1] == node.zone["batch"][1] - (0 if over else fold)
    assert node.percpu[1, 0] == (0 if over else fold)


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_counter_below_0_is_used_up_on_several_cpus_alone(cpus):
    """On one CPU the unsigned value is very large (mended in September 2014)."""
    node = zones.make([400, 900], Variant.MERGED, cpus, 512)
    for left, used in ((1, False), (0, True), (-1, cpus > 1)):
        node.zone["nr_alloc_batch"][1] = left
        assert vmstat.batch_is_used(node, U(1)) == used
