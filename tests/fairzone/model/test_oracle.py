"""The model and the oracle do the same, page by page, for every variant."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.fairzone.model import filemap, zones
from lorelab.fairzone.params import Variant
from lorelab.fairzone.workload.files import sequential
from lorelab.numerics import U
from tests.fairzone.oracle import Machine

CASE = st.fixed_dictionaries(
    {
        "variant": st.sampled_from(Variant),
        "local": st.tuples(
            st.sampled_from([0, 40, 300]), st.integers(700, 1500), st.integers(900, 2500)
        ),
        "remote": st.sampled_from([(), (500, 900)]),
        "cpus": st.sampled_from([1, 2, 4]),
        "exact": st.booleans(),
        "min_free_kib": st.sampled_from([128, 256, 512]),
        "nap": st.sampled_from([0, 40, 150]),
        "rate": st.sampled_from([900, 1100, 2000, 30_000]),
        "burst": st.sampled_from([1, 32, 100]),
        "threads": st.integers(1, 3),
        "percent": st.sampled_from([80, 150, 200]),
    }
)


def both(case):
    """Write, fsync and read by model and oracle."""
    local, remote = list(case["local"]), list(case["remote"])
    node = zones.make(
        local, case["variant"], case["cpus"], case["min_free_kib"], case["exact"], remote or None
    )
    # Frames of a node that no reclaim looks after are left alone: see `Machine`.
    pages_each = sum(local) * case["percent"] // 100 // case["threads"]
    mm = filemap.make(node, pages_each * case["threads"], case["nap"])
    told = Machine(
        case["variant"],
        local,
        remote,
        case["cpus"],
        case["exact"],
        case["min_free_kib"],
        case["nap"],
    )
    for writes in (True, False):
        numbers = (0, pages_each, 0, pages_each, case["threads"], 32, case["burst"])
        sequential(mm, *(U(n) for n in numbers), case["rate"], writes)
        told.sequential(pages_each, case["threads"], 32, case["burst"], case["rate"], writes)
        if writes:
            filemap.writeback(mm, mm.ring[1])
            told.writeback(len(told.dirtied))
    return mm, told


def differences(mm, told):
    """What the two disagree on."""
    found = {}
    count = dict(zip(zones.COUNTS, mm.node.count.tolist(), strict=True))
    for name, value in told.count.items():
        if count[name] != value:
            found[name] = (count[name], value)
    for zone, other in zip(mm.node.zone, told.zones, strict=True):
        for name in ("free", "allocated", "reclaimed", "dirty"):
            if zone[name] != getattr(other, name):
                found[name, other.idx] = (int(zone[name]), getattr(other, name))
        if zone["nr_alloc_batch"] != other.counter:
            found["batch", other.idx] = (int(zone["nr_alloc_batch"]), other.counter)
    if mm.node.percpu.tolist() != [z.diffs for z in told.zones]:
        found["diffs"] = (mm.node.percpu.tolist(), [z.diffs for z in told.zones])
    cached = {n for n in range(len(mm.map)) if 0 < mm.map[n] < 1 << 31}
    if cached != set(told.cache):
        found["cached"] = len(cached ^ set(told.cache))
    if mm.disk.tolist() != [told.read, told.written]:
        found["disk"] = (mm.disk.tolist(), [told.read, told.written])
    return found


@settings(max_examples=60, derandomize=True)
@given(CASE)
def test_model_and_oracle_do_the_same(case):
    assert differences(*both(case)) == {}


@pytest.mark.parametrize("variant", Variant)
def test_every_variant_does_the_same(variant):
    case = {"variant": variant, "local": (300, 1200, 2000), "remote": (), "cpus": 4}
    case |= {"exact": False, "min_free_kib": 512, "nap": 60, "rate": 30_000, "burst": 32}
    mm, told = both(case | {"threads": 2, "percent": 200})
    assert differences(mm, told) == {}
    assert np.all(mm.node.zone["allocated"][1:] > 0)


@pytest.mark.parametrize("remote", [(), (60, 90)], ids=["local", "remote"])
@pytest.mark.parametrize("variant", Variant)
def test_a_small_machine_does_the_same(variant, remote):
    """Rounds are short here: a batch is no more than a few pages."""
    case = {"variant": variant, "local": (20, 260, 400), "remote": remote, "exact": False}
    case |= {"cpus": 1 + variant % 2, "min_free_kib": 128, "nap": 40, "burst": 8}
    rate = (30_000, 2000, 1100)[variant % 3]
    mm, told = both(case | {"rate": rate, "threads": 1, "percent": 150})
    assert differences(mm, told) == {}
    assert mm.node.zone["reclaimed"].sum() > 0


@pytest.mark.parametrize("first", [True, False], ids=["decides first", "by chunk"])
@pytest.mark.parametrize("percent", [105, 115, 130])
def test_demotion_does_the_same_with_either_rule(percent, first):
    """A file used twice, then another until it is active: 52 to 65 % of memory each."""
    zone_sizes, chunk, rate = [300, 1200, 2000], 32, 30_000
    pages = sum(zone_sizes) * percent // 200
    node = zones.make(zone_sizes, Variant.NODE_LRU, 1, 512)
    node.info["decides_first"] = first
    mm = filemap.make(node, 2 * pages)
    told = Machine(Variant.NODE_LRU, zone_sizes, [], 1, False, 512, 0)
    told.decides_first = first
    for file in (0, 0, 1, 1, 1):
        numbers = (0, pages, file * pages, pages, 1, chunk, chunk)
        sequential(mm, *(U(n) for n in numbers), rate, False)
        told.one_file(file * pages, pages, chunk, rate)
        assert differences(mm, told) == {}
    assert told.count["refaults_activated"] > 0
