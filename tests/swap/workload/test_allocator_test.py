"""The kernel's own test on the model: what several CPUs change, and what is paged out."""

import numpy as np

from lorelab.numerics import U
from lorelab.swap.model.state import swapon
from lorelab.swap.params import AllocatorTest, Variant
from lorelab.swap.workload import allocator_test as workload
from lorelab.swap.workload import task


def fallbacks(**given):
    params = AllocatorTest(options="-s", large_swapin=False, iterations=10, **given)
    return workload.run(params, "test").iterations.tolist()


def test_cpus_that_the_task_never_sees_change_the_thresholds_alone():
    """5 x 64 free slots a CPU: 80 MiB has them whatever happens, 64 MiB does not."""
    assert fallbacks(device_mib=80) == fallbacks(device_mib=80, cpus=4)
    assert fallbacks(device_mib=64) != fallbacks(device_mib=64, cpus=2)


def test_a_task_that_moves_leaves_clusters_and_pages_behind():
    stays = fallbacks(device_mib=80, cpus=2)
    moved = fallbacks(device_mib=80, cpus=2, move_every=1000)
    assert moved != stays
    assert fallbacks(device_mib=80, cpus=1, move_every=1000) == stays


def test_what_waits_is_not_paged_out():
    si = swapon(64 << 8, Variant.V6_12, cpus=2)
    here = task.start(2)
    area = workload.Area(np.zeros(512, np.uint64), thp=False)
    one, histogram = np.zeros(64 << 8, np.uint64), np.zeros((10, workload.BUCKETS), np.uint64)
    seen = workload.Seen(histogram, histogram.copy(), one, np.zeros(1, np.uint64))
    workload._touch(si, here, area, U(0), U(40), False)
    here.place["cpu"] = 1
    workload._madvise_pageout(si, here, area.pte, False, np.zeros(1, workload.STATS), seen)
    pte = area.pte
    assert (pte[:31] < task.SMALL).all() and (pte[31:40] >= task.SMALL).all()


def small_tool():
    """Four places for folios and eight pages on a device of four clusters, one CPU, no caches."""
    si = swapon(4 * 512, Variant.V6_12, slot_cache=False)
    mem1, mem2 = (workload.Area(np.zeros(pages, np.uint64), thp=pages > 8) for pages in (4 * 16, 8))
    tool = workload.Tool(mem1, mem2, workload.srand(1), True, True, False)
    histogram = np.zeros((10, workload.BUCKETS), np.uint64)
    uses, swapouts = np.zeros(4 * 512, np.uint64), np.zeros(1, np.uint64)
    seen = workload.Seen(histogram, histogram.copy(), uses, swapouts)
    return si, task.start(1), tool, np.zeros(1, workload.STATS), seen


def test_what_is_filled_goes_out_and_comes_back():
    """6.12 takes free clusters first: folios from cluster 1 on, then pages from cluster 2 on."""
    si, here, tool, stats, seen = small_tool()
    workload.warm_up(si, here, tool, stats, seen)
    one, two = tool.mem1.pte, tool.mem2.pte
    assert one.tolist() == list(range(512, 512 + 64))
    assert two.tolist() == list(range(1024, 1024 + 8))
    assert stats[0].tolist() == (4, 0)
    # 16 slots read for each folio, one for each page.
    assert {int(b): int(seen.read[4, b]) for b in np.flatnonzero(seen.read[4])} == {5: 4}
    assert {int(b): int(seen.read[0, b]) for b in np.flatnonzero(seen.read[0])} == {1: 8}
    assert seen.uses[512 : 512 + 64].tolist() == np.repeat([1, 2, 3, 4], 16).tolist()
    assert seen.uses[1024 : 1024 + 8].tolist() == list(range(5, 13))
    assert not seen.waits.any()

    workload._touch(si, here, tool.mem1, U(5), U(1), True)
    assert (one[:16] == task.LARGE).all() and not si.swap_map[512:528].any()
    workload._touch(si, here, tool.mem1, U(16), U(1), False)
    assert one[17:].tolist() == list(range(529, 512 + 64)), "the others stay where they are"
    assert si.swap_map[527:530].tolist() == [0, 0, si.swap_map[529]] and si.swap_map[529]
    workload._madvise_dontneed(si, here, one, U(16), U(16))
    assert not one[16:32].any() and not si.swap_map[512:544].any()

    # The folio goes on behind the others; the thirteenth swap-out takes no slot anew.
    workload._madvise_pageout(si, here, one, False, stats, seen)
    assert stats[0].tolist() == (5, 0)
    assert one[:16].tolist() == list(range(576, 592)) and not seen.waits.any()


def test_a_slot_waits_for_its_next_use():
    """The three free clusters of 32 places are used in turn, though each is free again at once."""
    si, here, tool, stats, seen = small_tool()
    for _ in range(3 * 32):
        workload._touch(si, here, tool.mem1, U(0), U(16), True)
        workload._madvise_pageout(si, here, tool.mem1.pte, False, stats, seen)
        workload._madvise_dontneed(si, here, tool.mem1.pte, U(0), U(16))
    assert not seen.waits.any()
    workload._touch(si, here, tool.mem1, U(0), U(16), True)
    workload._madvise_pageout(si, here, tool.mem1.pte, False, stats, seen)
    assert seen.waits[4, 7] == seen.waits.sum() == 16, "96 has seven bits"


def test_an_iteration_pages_all_of_it_out_again():
    si, here, tool, stats, seen = small_tool()
    workload.warm_up(si, here, tool, stats, seen)
    stats[0] = 0
    workload.iterate(si, here, tool, stats, seen)
    for pte in (tool.mem1.pte, tool.mem2.pte):
        assert (pte > 0).all() and (pte < 4 * 512).all()
    assert stats[0].tolist() == (4, 0)
    assert np.count_nonzero(si.swap_map) == 1 + 64 + 8


def test_a_histogram_s_bucket_is_the_number_of_bits():
    values = (0, 1, 2, 3, 4, 16, 2**40 - 1, 2**64 - 1)
    assert [int(workload.bucket(U(value))) for value in values] == [v.bit_length() for v in values]
