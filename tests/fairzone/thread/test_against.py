"""The model beside the threads: each number on the disk and with the kswapd of its own line."""

import pandas as pd
import pytest

from lorelab.fairzone import figures
from lorelab.fairzone.pages import charts
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import against
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
    speed = figures.figure("june18-seqread-8-vanilla")
    hits = ran(Variant.JUNE_18, threads=8, disk_mb_s=speed, data_percent=200).loc["read", "hits"]
    assert row["model"] == figures.speedup(hits)


def test_what_is_off_is_more_than_twice_or_less_than_half(compared):
    off = against.off(compared)
    assert len(off) == 10
    assert not off["factor"].between(0.5, 2).any()
    assert compared.loc[compared["within"], "factor"].between(0.5, 2).all()


def test_two_gains_of_none_are_the_same(compared):
    none = compared.query("kernel == 'v4r8, class zone kept' and of == 'gain'")
    assert (none["printed"] < 0).any() and none["within"].all()


def test_v4r8_is_static_in_both(compared):
    row = compared.query("kernel == 'v4r8' and of == 'velocity'").iloc[0]
    assert (row["printed"], row["model"], row["factor"]) == (0, 0, 1)


def test_the_picture_has_every_number(compared):
    chart = charts.beside_print(compared, FACTOR, "see").to_dict()
    points = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "point")
    data = chart["datasets"][points["data"]["name"]]
    assert len(pd.DataFrame(data)) == len(compared)
    assert max(row["printed"] for row in data) < 46 and max(row["model"] for row in data) < 46


def test_what_a_hit_is_worth_follows_from_v4r8_and_is_put_on_the_others():
    rows = [
        ("v1", "29 May", "gain", 1, 20.0, 25.0),
        ("v1", "29 May", "gain", 8, 10.0, 25.0),
        ("v1", "29 May", "velocity", 0, 10.0, 25.0),
        ("v1", "29 May", "gain", 1, 0.5, 0.5),
        ("v4r8", "1 July", "gain", 1, 25.0, 25.0),
        ("v4r8", "1 July", "gain", 8, 100 / 9, 25.0),
        ("v4r8, class zone kept", "1 July", "gain", 1, 20.0, 25.0),
    ]
    columns = ["kernel", "day", "of", "threads", "printed", "model"]
    table = pd.DataFrame(rows, columns=columns).assign(factor=1.0, within=True)
    # 25 % take a fifth of hits, and 1/9 a tenth.
    assert against.worth(table).round(9).to_dict() == {1: 1.0, 8: 0.5}
    found = against.weighted(table)
    assert found["threads"].tolist() == [1, 8]
    assert found["model"].round(9).tolist() == [25.0, round(100 / 9, 9)]
    assert found["factor"].round(9).tolist() == [1.25, round(10 / 9, 9)]
