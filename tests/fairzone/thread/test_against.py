"""The model beside the threads: each number on the disk and with the kswapd of its own line."""

import pandas as pd
import pytest

from lorelab.fairzone import figures
from lorelab.fairzone.pages import charts
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import against, follow_ups
from lorelab.fairzone.thread.checks import FACTOR, ran


@pytest.fixture(scope="module")
def compared():
    return against.against()


def test_every_gain_that_a_series_prints_is_there(compared):
    gains = compared[compared["of"] == "gain"]
    assert gains.groupby(["day", "kernel"]).size().eq(len(figures.THREADS)).all()
    printed = figures.tiobench().query("operation == 'seqread'")["percent"]
    ours = gains.query("kernel == 'v1'")["printed"]
    assert ours.tolist() == printed.tolist()


def test_a_gain_is_the_models_on_the_disk_of_its_line(compared):
    row = compared.query("kernel == '18 June' and of == 'gain' and threads == 8").iloc[0]
    speed = figures.figure("june18-seqread-8-cfq600")
    disk = {"disk_mb_s": speed, "write_mb_s": figures.figure("june18-seqwrite-8-cfq600")}
    hits = ran(Variant.JUNE_18, threads=8, data_percent=200, **disk).loc["read", "hits"]
    assert row["model"] == figures.speedup(hits)


def test_a_disk_writes_at_the_printed_speed_or_as_fast_as_it_reads():
    disk = follow_ups.disks("big-seqread", "rc1")[16]
    assert disk == {"threads": 16, "data_percent": 200, "disk_mb_s": 86.3, "write_mb_s": 108.26}
    assert follow_ups.disks("seqread", "baseline")[1]["write_mb_s"] == 113.73
    assert "write_mb_s" not in follow_ups.disks("june25-seqread", "vanilla")[1]


def test_a_share_of_all_allocations_is_beside_one(compared):
    row = compared.query("kernel == 'v2' and of == 'share'").iloc[0]
    # Of twice the memory written and read, less the hits, a static zone takes its size once.
    assert row["model"] == pytest.approx(100 * 0.371 / 3.629, abs=0.3)


def test_what_is_off_is_more_than_twice_or_less_than_half(compared):
    off = against.off(compared)
    assert (len(compared), len(off)) == (89, 29)
    assert not off["factor"].between(0.5, 2).any()
    assert compared.loc[compared["within"], "factor"].dropna().between(0.5, 2).all()


def test_two_gains_of_none_are_the_same(compared):
    none = compared.query("kernel == 'v4r8, class zone kept' and of == 'gain'")
    assert (none["printed"] < 0).any() and none["within"].all()
    assert len(none) == compared["factor"].isna().sum() == 5, "and no factor counts"


def test_v4r8_is_static_in_both(compared):
    row = compared.query("kernel == 'v4r8' and of == 'velocity'").iloc[0]
    assert (row["printed"], row["model"], row["factor"]) == (0, 0, 1)


def test_the_picture_has_every_number(compared):
    chart = charts.beside_print(compared, FACTOR, "see").to_dict()
    points = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "point")
    data = chart["datasets"][points["data"]["name"]]
    assert len(pd.DataFrame(data)) == len(compared)
    assert max(row["printed"] for row in data) < 46 and max(row["model"] for row in data) < 46
    scale = points["encoding"]["color"]["scale"]
    assert {row["kernel"] for row in data} == set(scale["domain"]), "each has a colour"


def test_a_reviewers_gain_is_the_models_on_his_zones(compared):
    row = compared.query("kernel == 'v4r8' and of == 'gain' and threads == 1").iloc[0]
    assert row["machine"] == "the reviewer's"
    # 40 % of memory that stands still is a fifth of data of twice the memory.
    assert row["model"] == pytest.approx(25, abs=0.7)
    june = compared.query("kernel == 'v4r5' and of == 'gain' and threads == 1").iloc[0]
    assert june["model"] == pytest.approx(figures.speedup(0.371 / 2), abs=0.7)


def test_what_a_hit_is_worth_is_of_a_machine_and_is_put_on_its_others():
    rows = [
        ("v1", "29 May", "June", "gain", 1, 20.0, 25.0),
        ("v1", "29 May", "June", "gain", 8, 10.0, 25.0),
        ("v1", "29 May", "June", "velocity", 0, 10.0, 25.0),
        ("v1", "29 May", "June", "gain", 1, 0.5, 0.5),
        ("laptop", "18 June", "zones not printed", "gain", 1, 20.0, 25.0),
        ("managed/4", "19 June", "the reviewer's", "gain", 1, 20.0, 25.0),
        ("v3", "27 June", "June", "gain", 1, 25.0, 25.0),
        ("v4r5", "30 June", "June", "gain", 1, 25.0, 25.0),
        ("v4r5", "30 June", "June", "gain", 8, 100 / 9, 25.0),
        ("v4r8", "1 July", "the reviewer's", "gain", 1, 100 / 9, 25.0),
    ]
    columns = ["kernel", "day", "machine", "of", "threads", "printed", "model"]
    table = pd.DataFrame(rows, columns=columns).assign(factor=1.0, within=True)
    # 25 % take a fifth of hits, and 1/9 a tenth.
    worth = against.worth(table).round(9)
    assert worth.loc[("June", "v4r5")].to_dict() == {1: 1.0, 8: 0.5}
    assert worth.loc[("the reviewer's", "v4r8"), 1] == 0.5
    found = against.weighted(table)
    assert found["kernel"].tolist() == ["v1", "v1", "managed/4"]
    assert found["model"].round(9).tolist() == [25.0, round(100 / 9, 9), round(100 / 9, 9)]
    assert found["factor"].round(9).tolist() == [1.25, round(10 / 9, 9), round(5 / 9, 9)]
    assert against.close(found["factor"]).tolist() == [True, True, False]


def test_the_static_series_over_a_kernel_of_the_same_machine():
    rows = [
        ("v1", "29 May", "June", "gain", 16, 10.0, 20.0),
        ("v3", "27 June", "June", "gain", 16, 25.0, 24.0),
        ("v4r5", "30 June", "June", "gain", 16, 5.0, 26.0),
        ("v4r5", "30 June", "June", "share", 16, 99.0, 99.0),
        ("v4r8", "1 July", "the reviewer's", "gain", 16, 99.0, 99.0),
        ("3.0", "30 June", "June", "gain", 16, 99.0, 99.0),
    ]
    columns = ["kernel", "day", "machine", "of", "threads", "printed", "model"]
    found = against.beside_static(pd.DataFrame(rows, columns=columns), "v1")
    assert found.to_dict("index") == {16: {"printed": 1.5, "model": 1.25}}


def test_kernels_that_a_chart_draws_as_one_without_reserves_are_the_static_ones():
    drawn = [kernel for kernel, kin in charts.KIN.items() if kin == "kswapd without reserves"]
    assert sorted(drawn) == sorted(against.STATIC)
