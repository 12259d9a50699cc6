"""What must hold of every run, whatever the zones, the variant and the pace."""

import numpy as np
from hypothesis import given, settings

from lorelab.fairzone.model.zones import COUNTS
from lorelab.fairzone.params import Variant
from lorelab.fairzone.workload.files import where_cached
from tests.fairzone.model.test_oracle import CASE, both

TWO_PASSES = {Variant.BASELINE, Variant.V1, Variant.V1_LOCAL, Variant.V1_REACHABLE}


@settings(max_examples=60, derandomize=True)
@given(CASE)
def test_what_must_hold(case):
    mm, _ = both(case)
    node = mm.node
    zone, variant = node.zone, case["variant"]
    count = dict(zip(COUNTS, node.count.tolist(), strict=True))
    allocated = int(zone["allocated"].sum())
    local = zone["node"] == 0

    cached = int(mm.frames.nr.sum())
    assert zone["managed"].sum() == zone["free"].sum() + cached
    assert (abs(node.percpu) <= zone["threshold"][:, None]).all()
    # A page is taken above the min watermark, which the last one reaches.
    assert (zone["free"] >= zone["min"]).all()
    assert (zone["managed"] - zone["free"] == zone["allocated"] - zone["reclaimed"]).all()
    assert (zone["managed"] - zone["free"] == where_cached(mm, 1).sum(axis=0)).all()
    assert allocated == zone["reclaimed"].sum() + cached
    # Each page of the files is written once, and only misses are read.
    assert allocated == len(mm.map) + int(mm.disk[0])
    assert count["spills"] == zone["allocated"][~local].sum()
    assert count["tests"] <= count["passes"] * len(zone)
    causes = ("failed_by_batch", "failed_by_watermark", "failed_by_both")
    assert sum(count[name] for name in causes) <= count["failed_fair_passes"]
    if variant in (Variant.OFF, Variant.NODE_LRU):
        assert count["failed_fair_passes"] == count["resets"] == count["rescans"] == 0
        assert count["passes"] == allocated + count["slowpaths"]
    if variant == Variant.BASELINE:
        assert count["resets"] == count["failed_fair_passes"]
    if variant in TWO_PASSES:
        assert count["rescans"] == count["failed_fair_passes"]
    if variant in (Variant.MERGED, Variant.FIXED) and not case["remote"]:
        skipped = count["failed_by_batch"] + count["failed_by_both"]
        assert count["resets"] == count["rescans"] == skipped
    dma_is_out = case["local"][0] and zone["managed"][0] <= (
        zone["low"][0] + node.lowmem_reserve[0, local.sum() - 1]
    )
    if variant in (Variant.V1, Variant.V1_LOCAL) and dma_is_out:
        assert count["resets"] == 0


@settings(max_examples=30, derandomize=True)
@given(CASE)
def test_no_batch_is_lost(case):
    """What the counters say is what they were set to, less what was taken since."""
    mm, told = both(case)
    known = [z.counter + sum(z.diffs) for z in told.zones]
    assert (mm.node.zone["nr_alloc_batch"] + mm.node.percpu.sum(axis=1)).tolist() == known
    if not told.count["resets"]:
        takes_part = mm.node.zone["takes_part"]
        left = mm.node.zone["batch"] - takes_part * mm.node.zone["allocated"]
        assert known == left.tolist()


def test_lists_hold_each_cached_frame_once():
    case = {"variant": Variant.OFF, "local": (0, 1200, 2000), "remote": (), "cpus": 1}
    case |= {"exact": False, "min_free_kib": 512, "nap": 60, "rate": 2000, "burst": 1}
    mm, _ = both(case | {"threads": 1, "percent": 200})
    frames = len(mm.frames.flags)
    seen = []
    for lru, pair in enumerate(mm.frames.nr):
        for which, length in enumerate(pair):
            head = frames + 2 * lru + which
            walk = [int(mm.frames.next[head])]
            while walk[-1] != head:
                walk.append(int(mm.frames.next[walk[-1]]))
            assert len(walk) - 1 == length
            seen += walk[:-1]
    cached = np.sort(mm.map[(mm.map > 0) & (mm.map < 1 << 31)].astype(np.int64) - 1)
    assert sorted(seen) == cached.tolist()
