"""What must hold of every single allocation, whatever the zones, the variant and the state."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.fairzone.model import zones
from lorelab.fairzone.model.page_alloc import alloc_fast, get_page_from_freelist
from lorelab.fairzone.model.zones import COUNTS, NONE
from lorelab.fairzone.params import TRAITS, Variant
from lorelab.numerics import U

PASSES, RESETS, RESCANS, FAILED, SKIPPED = (
    COUNTS.index(name)
    for name in ("passes", "resets", "rescans", "failed_fair_passes", "skips_batch")
)
V1 = {Variant.V1, Variant.V1_LOCAL, Variant.V1_REACHABLE}
MERGED = {Variant.MERGED, Variant.FIXED}
ASKS_ALL = {Variant.V1}

NODE = st.fixed_dictionaries(
    {
        "variant": st.sampled_from(Variant),
        "dma": st.sampled_from([0, 40, 300]),
        "remote": st.booleans(),
        "cpus": st.sampled_from([1, 2, 4]),
        "exact": st.booleans(),
        "min_free_kib": st.sampled_from([128, 512]),
    }
)
# A CPU allocates a few pages, or a zone gets a few back.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 3), st.integers(1, 60)),
        st.tuples(st.just("free"), st.integers(0, 2), st.integers(1, 60)),
    ),
    max_size=40,
)


def visible(node):
    """Counters as a test sees them; below 0 only with one CPU, where that is not used up."""
    seen = node.zone["nr_alloc_batch"].copy()
    return seen if node.info["up"][0] else np.maximum(seen, 0)


def take(node, cpu, variant):
    """Allocate a page; what the step did is held against what the rules allow."""
    before = node.zone.copy()
    parts = node.percpu.sum(axis=1)
    counted = node.count.astype(np.int64)
    seen = visible(node)
    z = alloc_fast(node, U(cpu), False)
    did = node.count.astype(np.int64) - counted
    klass = int(node.info["classzone"][0])
    margin = before["free"] - before["low"] - node.lowmem_reserve[:, klass]
    taken = np.zeros(len(before), np.int64)
    if z != NONE:
        taken[int(z)] = 1
        assert margin[int(z)] > 0
    assert (before["free"] - node.zone["free"] == taken).all()
    assert (node.zone["allocated"] - before["allocated"] == taken).all()
    assert did[RESETS] <= 1 and did[PASSES] <= 2
    assert did[PASSES] == 1 + did[RESCANS]

    known = node.zone["nr_alloc_batch"] + node.percpu.sum(axis=1)
    added = known - before["nr_alloc_batch"] - parts + taken * before["takes_part"]
    if did[RESETS]:
        assert did[FAILED] == 1
        # What a zone got is what its visible counter lacked of the batch, or nothing.
        lacking = before["batch"] - before["nr_alloc_batch"]
        assert ((added == lacking) | (added == 0)).all()
        local = before["node"] == 0
        if not TRAITS[variant].only_depleted:
            assert (added[local] == lacking[local]).all()
    else:
        assert (added == 0).all()
    _rules(node, variant, did, seen, before)
    return z


def _rules(node, variant, did, seen, before):
    local = before["node"] == 0
    if variant in (Variant.OFF, Variant.NODE_LRU):
        assert did[PASSES] == 1 and did[FAILED] == did[RESETS] == 0
    if variant == Variant.BASELINE:
        assert did[RESETS] == did[FAILED] == did[RESCANS]
    if variant in V1 and did[RESETS]:
        asked = np.ones(len(before), bool) if variant in ASKS_ALL else local
        if variant == Variant.V1_REACHABLE:
            klass = int(node.info["classzone"][0])
            reserve = node.lowmem_reserve[:, klass]
            asked &= before["managed"] > before["low"] + reserve
        assert (seen[asked] == 0).all()
    if variant in MERGED:
        assert did[RESETS] <= did[SKIPPED]


@settings(max_examples=120, derandomize=True)
@given(NODE, STEPS)
def test_every_allocation_keeps_to_the_rules(case, steps):
    variant = case["variant"]
    remote = [0, 300, 500] if case["remote"] else None
    node = zones.make(
        [case["dma"], 900, 1600],
        variant,
        case["cpus"],
        case["min_free_kib"],
        case["exact"],
        remote,
    )
    # Near their marks, where the rules differ.
    klass = int(node.info["classzone"][0])
    marks = node.zone["low"] + node.lowmem_reserve[:, klass]
    node.zone["free"] = np.minimum(marks + 40, node.zone["managed"])
    for what, which, many in steps:
        if what == "free":
            zone = node.zone[which % len(node.zone)]
            zone["free"] = min(zone["free"] + many, zone["managed"])
            continue
        for _ in range(many):
            z = take(node, which % case["cpus"], variant)
            assert (abs(node.percpu) <= node.zone["threshold"][:, None]).all()
            if z != NONE:
                continue
            free = node.zone["free"].copy()
            above = free - node.zone["min"] - node.lowmem_reserve[:, klass]
            z = get_page_from_freelist(node, U(which % case["cpus"]), False, False, False)
            assert (z == NONE) == (not (above > 0).any())
            assert z == NONE or above[int(z)] > 0
