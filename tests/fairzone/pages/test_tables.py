"""What pages show, on a machine of 64 MiB: each table against the runs, read in another way."""

import pandas as pd
import pytest

from lorelab.experiments import experiment
from lorelab.fairzone import figures
from lorelab.fairzone.experiments import inversion, reread, tiobench
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.zones import COUNTS
from lorelab.fairzone.pages import answers, simulated, views
from lorelab.fairzone.params import Batches, Boundary, Inversion, Reread, Tiobench, Variant
from lorelab.fairzone.workload import machine, stream
from lorelab.params import label

SMALL = Tiobench(mib=64, min_free_kib=1024, threads=1, random_ops=50, disk_mb_s=10, write_mb_s=20)
BOTH = [Variant.OFF, Variant.V1]


def of(variant, phase, **given):
    """Counters of one phase, and DMA32's and Normal's allocations."""
    params = SMALL.model_copy(update={"variant": variant, "steps": 1, **given})
    table = experiment("fairzone/tiobench").simulate(params)
    phases = ["write", "random write", "read", "random read"]
    rows = table[table["step"] == 1 + phases.index(phase)]
    return dict(zip(rows["counter"], rows["value"], strict=True))


def each(counted):
    """Allocations of all zones."""
    return sum(value for name, value in counted.items() if name.startswith("allocated_"))


def test_every_variant_has_its_row():
    table = views.variants(SMALL)
    assert list(table.index) == [label(variant) for variant in Variant]
    assert table.index.name == "variant"
    for variant in (Variant.BASELINE, Variant.V1):
        row, read, wrote = table.loc[label(variant)], of(variant, "read"), of(variant, "write")
        assert row["share, read"] == pytest.approx(100 * read["allocated_dma32"] / each(read))
        assert row["share, write"] == pytest.approx(100 * wrote["allocated_dma32"] / each(wrote))
        assert row["hits"] == pytest.approx(100 * read["hits"] / read["touched"])
        for name in ("passes", "tests"):
            assert row[name] == pytest.approx(read[name] / each(read))
        phases = ("write", "random write", "read", "random read")
        assert row["resets"] == sum(of(variant, phase)["resets"] for phase in phases)
    walks = views.walks(table)
    assert list(walks.index) == list(range(2 * len(table)))
    assert set(walks["kind"]) == {"passes", "zones tested"}
    passes = walks[walks["kind"] == "passes"].set_index("variant")["each"]
    assert passes.to_list() == [round(value, 3) for value in table["passes"]]


def test_what_of_the_file_is_cached_where():
    params = SMALL.model_copy(update={"steps": 2, "zone_dma": False, "mib": 8192 // 128})
    table = views.offsets(params, BOTH)
    assert list(table.index) == list(range(len(table)))
    assert set(table["moment"]) <= {-1, 0, 1, 2}
    assert table["cached"].between(1, 100).all()
    assert table["offset"].max() <= 100 - 100 / tiobench.BUCKETS
    whole = tiobench.run(params.model_copy(update={"variant": Variant.V1}), maps=True)
    last = whole.windows[(whole.windows["phase"] == "read") & (whole.windows["window"] == 2)]
    pages = whole.touched[0] / tiobench.BUCKETS
    shown = table[(table["variant"] == "v1") & (table["moment"] == 2)]
    expected = last[last["pages"] > 0]
    assert shown["cached"].to_list() == [
        value for value in (100 * expected["pages"] / pages).round(0) if value > 0
    ]


def test_what_each_zone_holds_adds_up_to_it():
    params = SMALL.model_copy(update={"steps": 2, "mib": 512})
    table = views.filling(params, BOTH)
    done = tiobench.run(params.model_copy(update={"variant": Variant.V1}))
    managed = dict(zip(done.zones, done.managed, strict=True))
    assert set(table["holds"]) == {*views.QUARTERS, "free"}
    assert set(table["moment"]) <= {-1, 0, 1, 2}
    for (_, _, zone), rows in table.groupby(["variant", "moment", "zone"]):
        assert rows["mib"].sum() == pytest.approx(managed[zone] / 256, abs=3)
    # Read to its end, a file of twice the memory leaves its second half there.
    read = table[(table["variant"] == "off") & (table["moment"] == 2)]
    held = read.groupby("holds")["mib"].sum()
    assert held[["3rd quarter", "4th quarter"]].sum() > 0.9 * held.drop("free").sum()
    assert held["free"] < 0.05 * held.sum()


def test_shares_over_the_rate_of_kswapd():
    params = Inversion(mib=64, min_free_kib=1024, rates=2, lowest_rate=1.05, highest_rate=30)
    params = params.model_copy(update={"turnovers": 1})
    table = views.rates(params, BOTH)
    assert list(table.columns) == ["variant", "rate", "share", "residency"]
    assert list(table["variant"]) == ["off", "off", "v1", "v1"]
    assert list(table["rate"]) == [1.05, 30, 1.05, 30]
    counted = inversion.simulate(params.model_copy(update={"variant": Variant.V1}))
    for step, row in zip(
        sorted(counted["step"].unique()), table.iloc[2:].itertuples(), strict=True
    ):
        rows = counted[counted["step"] == step].set_index("counter")["value"]
        assert row.share == pytest.approx(100 * rows["allocated_dma32"] / each(rows), abs=0.006)
        ratio = rows["residency_dma32"] / rows["residency_normal"]
        assert pd.isna(ratio) or row.residency == pytest.approx(ratio, abs=0.006)


def test_rates_are_as_many_as_asked_for_from_the_lowest_to_the_highest():
    rates = inversion.rates(Inversion(rates=3, lowest_rate=2, highest_rate=32))
    assert list(rates) == pytest.approx([2, 8, 32])


def test_a_nap_moves_a_tenth_of_a_second_of_the_disk():
    assert machine.nap_pages(40.96) == 1000
    assert machine.nap_pages(0) == 0


def test_gains_by_threads():
    table = views.gains(SMALL)
    printed = figures.tiobench().query("operation == 'seqread'")
    shown = table[table["source"] == "printed, 29 May 2014"]
    assert shown["threads"].to_list() == list(figures.THREADS) == printed["threads"].to_list()
    assert shown["gain"].to_list() == printed["percent"].to_list()
    assert set(table["source"]) - {"printed, 29 May 2014"} == {"the model's hits, at no cost"}
    speeds = figures.tiobench().set_index(["operation", "threads"])["baseline"]
    for row in table[table["source"] != "printed, 29 May 2014"].itertuples():
        given = {"disk_mb_s": speeds["seqread", row.threads], "threads": row.threads}
        given["write_mb_s"] = speeds["seqwrite", row.threads]
        read = of(Variant.V1, "read", **given)
        assert row.gain == round(figures.speedup(read["hits"] / read["touched"]), 2)


def test_shares_of_the_phases():
    table = answers.shared(SMALL)
    assert list(table.columns) == ["write", "read", "size"]
    for variant in (Variant.OFF, Variant.JUNE_18):
        for phase in ("write", "read"):
            counted = of(variant, phase)
            share = 100 * counted["allocated_dma32"] / each(counted)
            assert table.loc[label(variant), phase] == pytest.approx(share)
    managed = zones.managed_pages(64, True)
    assert table["size"].unique() == pytest.approx([100 * managed[1] / sum(managed[1:])])


def test_data_that_fits():
    table = answers.fitting(SMALL)
    assert list(table.index) == ["baseline", "june-18"]
    for variant, row in (("baseline", "vanilla"), ("june-18", "fairzone")):
        low, high = (
            figures.figure(f"june18-dma32-allocs-{row}"),
            figures.figure(f"june18-normal-allocs-{row}"),
        )
        assert table.loc[variant, "posted"] == pytest.approx(100 * low / (low + high))
    phases = ("write", "random write", "read", "random read")
    counted = [of(Variant.BASELINE, phase, data_percent=80) for phase in phases]
    low, high = (sum(one[f"allocated_{zone}"] for one in counted) for zone in ("dma32", "normal"))
    assert table.loc["baseline", "model"] == pytest.approx(100 * low / max(low + high, 1))


def test_counters_of_each_cpu_and_exact_ones():
    table = answers.drift(cpus=4)
    assert list(table.index) == ["per CPU", "exact"]
    for name, exact in (("per CPU", False), ("exact", True)):
        params = Batches(cpus=4, threads=4, turn=1, exact=exact)
        counted = experiment("fairzone/batches").simulate(params)
        assert set(counted["step"]) == {0}
        value = counted.set_index("counter")["value"]
        for counter in ("failed_by_batch", "resets", "deferred"):
            assert table.loc[name, counter] == value[counter]
        low, high = value["allocated_dma32"], value["allocated_normal"]
        assert table.loc[name, "DMA32's share, %"] == pytest.approx(100 * low / (low + high))


def test_hits_of_the_reads():
    table = answers.read_back(SMALL)
    assert list(table.index) == ["as posted", "caches dropped", "80 % of memory"]
    assert list(table.columns) == ["baseline", "v1"]
    for row, given in (("as posted", {}), ("80 % of memory", {"data_percent": 80})):
        read = of(Variant.V1, "read", **given)
        assert table.loc[row, "v1"] == pytest.approx(100 * read["hits"] / read["touched"])
    assert (table.loc["caches dropped"] == 0).all()
    assert (table.loc["80 % of memory"] > 50).all()


def test_hits_by_min_free_kbytes():
    wide = answers.distances(Tiobench(mib=1024, zone_dma=False, random_ops=50))
    assert list(wide.index) == [11429, 33792, 56000, 67584, 100000, 135168]
    assert wide.index.name == "min_free_kbytes"
    assert list(wide.columns) == ["share", "hits"]
    params = Tiobench(mib=1024, zone_dma=False, random_ops=50, variant=Variant.V1, steps=1)
    done = tiobench.run(params.model_copy(update={"min_free_kib": 56000}))
    read = simulated.summary(done).set_index("phase").loc["read"]
    assert wide.loc[56000].to_list() == [read["share"], read["hits"]]


def test_the_stuck_case_by_variant():
    table = answers.stuck()
    assert list(table.index) == ["baseline", "v1", "merged"]
    assert list(table.columns) == ["slow", "resets", "passes", "tests"]
    value = experiment("fairzone/boundary").simulate(Boundary()).set_index("counter")["value"]
    row = table.loc[label(Boundary().variant)]
    assert row.to_dict() == {name: value[name] for name in table.columns}


def test_watermarks_by_scale_factor():
    """A quarter of min is the least distance (mm/page_alloc.c of 4.6)."""
    sizes = [10_000, 30_000]
    assert zones.watermarks(sizes, 1600) == [(100, 125, 150), (300, 375, 450)]
    assert zones.watermarks(sizes, 1600, 10) == [(100, 125, 150), (300, 375, 450)]
    assert zones.watermarks(sizes, 1600, 60) == [(100, 160, 220), (300, 480, 660)]
    params = SMALL.model_copy(update={"watermark_scale_factor": 500, "zone_dma": False})
    node = machine.node_of(params)
    assert (node.zone["low"] - node.zone["min"] == node.zone["managed"] // 20).all()
    assert (node.zone["batch"] == node.zone["managed"] // 20).all()


def test_hits_by_scale_factor():
    table = answers.factors(SMALL)
    assert table.index.tolist() == [10, 25, 42, 60, 100]
    for factor in table.index:
        given = {"watermark_scale_factor": factor}
        v1 = of(Variant.V1, "read", **given)
        baseline = of(Variant.BASELINE, "read", **given)
        row = table.loc[factor]
        assert row["share"] == pytest.approx(v1["allocated_dma32"] / each(v1))
        assert row["hits"] == pytest.approx(v1["hits"] / v1["touched"])
        assert row["baseline"] == pytest.approx(baseline["allocated_dma32"] / each(baseline))


def test_each_page_is_read_once_and_what_comes_after_memory_is_full_is_counted():
    params = Batches(mib=64, min_free_kib=1024, threads=3, turn=32, percent=50)
    pages = sum(zones.managed_pages(64, True))
    mm, counts, allocated = stream.run(params, 30, 50, threads=3)
    assert len(mm.map) == mm.disk[0] == mm.node.zone["allocated"].sum() == pages * 3 // 2 // 3 * 3
    # Each thread has read its part of memory before, in whole turns.
    assert allocated.sum() == len(mm.map) - 3 * (pages // 3 // 32 * 32)
    assert counts[COUNTS.index("passes")] >= allocated.sum()


def test_a_guest_that_drops_its_caches_reads_all_of_it_again():
    params = Reread(mib=384, dma32_mib=144, data_percent=10, workload="drop-caches")
    said = reread.simulate(params).set_index("counter")["value"]
    pages = 384 * 256 // 10
    assert said["write_touched"] == said["read_touched"] == pages
    assert said["read_hits"] == 0
    assert said.filter(like="read_cached").sum() == 0
    assert said.filter(like="read_allocated").sum() >= pages


def test_what_began_each_run_of_kswapd(monkeypatch):
    small = Inversion(variant=Variant.OFF, mib=64, min_free_kib=4096, zone_dma=False)
    monkeypatch.setattr(answers, "EIGHTH", small)
    table = answers.sleeps()
    assert list(table.index.unique("nap")) == ["yes", "no"] and len(table) == 8
    read = 2 * table["pages per run"] * (table["by naps"] + table["by wakeups"])
    assert (abs(read / read.iloc[0] - 1) < 1e-9).all(), "each run began in one of two ways"
    assert (table.loc["no", "by naps"] == 0).all()
    assert table.loc["yes", "by naps"].sum() > 0
