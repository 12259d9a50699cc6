"""Arithmetic on the printed figures, against values worked out by hand."""

import pytest

from lorelab.fairzone import figures


def test_there_are_forty_means_and_twenty_gains():
    table = figures.tiobench()
    assert table[["baseline", "v1"]].size == 40
    assert len(table["percent"]) == 20


def test_every_printed_gain_is_one_that_the_rounded_means_leave():
    table = figures.tiobench()
    assert (table["percent"] >= table["low"] - figures.HALF).all()
    assert (table["percent"] <= table["high"] + figures.HALF).all()


def test_a_gain_from_other_means_is_seen():
    table = figures.tiobench().assign(percent=lambda rows: rows["percent"] + 0.5)
    sequential = table[table["operation"] == "seqread"]
    assert (sequential["percent"] > sequential["high"] + figures.HALF).all()


def test_hit_fractions_of_the_sequential_reads():
    table = figures.tiobench().query("operation == 'seqread'")
    assert table["hits"].round(3).tolist() == [0.095, 0.113, 0.105, 0.064, 0.078]
    assert figures.speedup(0.185) == pytest.approx(22.7, abs=0.05)


def test_geometric_means():
    means = figures.geometric_means().round(2).to_dict()
    assert means == {"seqread": 10.03, "randread": -0.81, "seqwrite": 0.07, "randwrite": -0.14}
    assert list(means) == ["seqread", "randread", "seqwrite", "randwrite"], "as printed"


def test_shares_of_dma32():
    shares = figures.shares().set_index(["kernel", "of"])
    assert shares["share"].loc["3.16-rc1", "allocations, data in memory"] == pytest.approx(
        0.371, abs=5e-4
    )
    assert shares["share"].loc["25 June, kswapd without reserves", "allocations"] == pytest.approx(
        0.0079, abs=1e-4
    )
    assert shares["size"].loc["25 June, kswapd without reserves", "allocations"] == pytest.approx(
        0.371, abs=5e-4
    )
    assert shares["share"].loc["v4r8", "velocity"] == 0
