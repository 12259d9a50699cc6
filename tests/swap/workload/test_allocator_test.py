"""The kernel's own test on the model: what several CPUs change, and what is paged out."""

import numpy as np

from lorelab.numbers import U
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
