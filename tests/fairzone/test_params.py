"""What can't be simulated is refused before it starts, and what has no effect is not taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import BadInput, NoModel, RunFailed
from lorelab.experiments import experiment
from lorelab.fairzone.model import filemap, zones
from lorelab.fairzone.model.vmscan import HOPELESS
from lorelab.fairzone.params import (
    MODES,
    TRAITS,
    Batches,
    Followed,
    Inversion,
    Nodes,
    Reread,
    Tiobench,
    Variant,
)
from lorelab.fairzone.workload import machine
from lorelab.fairzone.workload.files import sequential
from lorelab.numerics import U
from lorelab.params import label, parse

NAMES = ("tiobench", "batches", "inversion")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("mib", "kib", "fits"),
    [(64, 65535, True), (64, 65536, False), (64, 67584, False), (8192, 2**24, False)],
)
def test_the_whole_memory_is_not_kept_free(name, mib, kib, fits):
    """The kernel takes pages of 4 KiB: 65535 KiB are 16383 of 16384."""
    model = experiment(f"fairzone/{name}").Params
    if fits:
        parse(model, {"mib": mib, "min_free_kib": kib})
    else:
        with pytest.raises(BadInput, match=f"min_free_kib={kib}: takes less .*{mib * 1024} KiB"):
            parse(model, {"mib": mib, "min_free_kib": kib})


@given(st.integers(64, 4096), st.booleans(), st.integers(-6, 6))
def test_the_bound_is_that_of_the_kernels_arithmetic(mib, dma, more):
    """Watermarks and reserves of every zone, by the kernel's divisions, say the same."""
    kib = mib * 1024 + more
    managed = [pages for pages in zones.managed_pages(mib, dma) if pages]
    marks, kept = zones.watermarks(managed, kib), zones.lowmem_reserves(managed)
    fits = zones.serves(managed, marks, kept)
    assert fits == (kib >> 2 < mib * 256)
    try:
        Batches(mib=mib, zone_dma=dma, min_free_kib=min(kib, 2**24))
    except ValueError:
        assert not fits
    else:
        assert fits


def test_a_zone_serves_by_one_page_above_min_and_reserve():
    reserves = zones.lowmem_reserves([600, 2560])
    assert reserves[0, 1] == 10
    assert zones.serves([600, 2560], [(589, 0, 0), (2560, 0, 0)], reserves)
    assert not zones.serves([600, 2560], [(590, 0, 0), (2560, 0, 0)], reserves)
    assert zones.serves([600, 2560], [(590, 0, 0), (2559, 0, 0)], reserves)


@pytest.mark.parametrize(("model", "given"), [(Reread, {}), (Followed, {}), (Nodes, {})])
def test_no_guest_keeps_all_of_its_memory(model, given):
    size = {"mib": 384, "dma32_mib": 144}
    parse(model, {**size, "min_free_kib": 384 * 1024 - 1})
    with pytest.raises(BadInput, match="takes less than the memory"):
        parse(model, {**size, "min_free_kib": 384 * 1024})


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("slabs", [False, True])
@pytest.mark.parametrize("usable", [0, 1, 2, 3, 39])
def test_a_memory_of_a_few_pages_ends_in_one_line_or_a_result(usable, slabs, writes):
    """Pages above the min watermark; a window of 8 has to find room among them."""
    marks = [(40 - usable,) * 3]
    node = zones.make([40], Variant.BASELINE, 1, exact=True, marks=marks)
    assert zones.serves([40], marks, node.lowmem_reserve) == (usable > 0)
    mm = filemap.make(node, 48, slabs=slabs)
    sequential(mm, *(U(n) for n in (0, 48, 0, 48, 1, 8, 8)), 1100, writes)
    assert node.zone["free"][0] >= 40 - usable - slabs  # of a pair only the first is asked for
    if mm.failed[0] or not usable:
        with pytest.raises(RunFailed, match="out_of_memory") as failed:
            filemap.check(mm)
        assert "\n" not in str(failed.value)
    else:
        assert node.zone["allocated"][0] >= 48


def test_a_zoneinfo_that_keeps_all_is_refused(tmp_path):
    file = tmp_path / "zoneinfo"
    zone = """Node 0, zone   Normal
  pages free     {m}
        min      {m}
        low      {m}
        high     {m}
        managed  {m}
        protection: (0, 0, 0)
"""
    for pages, said in ((20000, "keep all of their pages"), (16383, "64 MiB to 256 GiB")):
        file.write_text(zone.format(m=pages))
        with pytest.raises(BadInput, match=said):
            machine.node_of(Batches(zoneinfo=str(file)))
    file.write_text(zone.format(m=20000).replace("min      20000", "min      19999"))
    assert machine.node_of(Tiobench(zoneinfo=str(file)), 33).info["dirty_ratio"][0] == 33


def test_a_kswapd_that_can_only_fail_ends_the_run():
    """The hardest walk, of priority 1, looks at half of a list: of one page on either, at none.

    So two of 400 stay, and a high mark that the other 398 do not pass is never reached.
    """
    for high, fails in ((398, True), (397, False)):
        node = zones.make([400], Variant.NODE_LRU, 2, exact=True, marks=[(100, 110, high)])
        mm = filemap.make(node, 600)
        mm.kswapd["at_once"] = 1
        sequential(mm, *(U(n) for n in (0, 600, 0, 600, 1, 32, 32)), 0, False)
        assert mm.failed[0] == (HOPELESS if fails else 0)
        if fails:
            with pytest.raises(RunFailed, match="MAX_RECLAIM_RETRIES"):
                filemap.check(mm)
        else:
            filemap.check(mm)


def test_a_window_that_has_no_room_is_read_page_by_page():
    """Of 40 pages 32 may be used; a window of 64 pushes its own first pages out."""
    node = zones.make([40], Variant.OFF, 1, exact=True, marks=[(8, 8, 8)])
    mm = filemap.make(node, 64)
    sequential(mm, *(U(n) for n in (0, 64, 0, 64, 1, 64, 64)), 1100, False)
    filemap.check(mm)
    assert mm.disk[0] > 64 and filemap.is_cached(mm, U(63))
    assert (mm.map > 0).all()


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("reread", {"memory_cgroups": True}, "memory_cgroups=true: only the kernel reads it"),
        ("reread", {"program": "fio"}, "program=fio: only the kernel reads it"),
        ("reread", {"repeats": 9}, "repeats=9: only the kernel reads it"),
    ],
)
def test_the_model_refuses_what_it_does_not_read(name, given, said):
    asked = experiment(f"fairzone/{name}")
    with pytest.raises(NoModel, match=said):
        asked.simulate(parse(asked.Params, given))


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (Nodes, {"exact": True}, "exact=true: takes a mode other than unpatched"),
        (Inversion, {"kswapd_rate": 5}, "unknown parameter kswapd_rate"),
        (Batches, {"zoneinfo": "x", "mib": 100}, "mib: leave it out"),
        (Tiobench, {"zoneinfo": "x", "zone_dma": False}, "zone_dma: leave it out"),
    ],
)
def test_what_would_have_no_effect_is_refused(model, given, said):
    with pytest.raises(BadInput, match=said):
        parse(model, given)


def test_a_mode_and_a_variant_of_one_name_are_one_policy():
    variants = {label(variant): TRAITS[variant] for variant in Variant}
    shared = MODES.keys() & variants.keys()
    assert shared == {"off", "baseline", "v1", "v1-local", "v1-reachable", "fixed"}
    assert all(MODES[name] == variants[name] for name in shared)


def test_records_of_a_mode_that_has_another_name_now_are_read():
    assert Followed.of_record({"mode": "merged"}) == Followed(mode="fixed")
    assert Reread.of_record({"mode": "merged", "kswapd_rate": 3}) == Reread(mode="fixed")
    with pytest.raises(BadInput, match="mode=merged"):
        parse(Followed, {"mode": "merged"})
    assert experiment("fairzone/followed").recorded(Followed(mode="fixed")) is not None
