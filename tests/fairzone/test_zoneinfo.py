"""A reader's zoneinfo: its zones are the model's, and a bad file gets one line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.fairzone import report, zoneinfo
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.params import parse

HERE = Path(__file__).parent / "zoneinfo.txt"
TEXT = HERE.read_text()


def test_zones_of_the_file():
    found = zoneinfo.read(HERE)
    assert [zone.name for zone in found] == ["DMA", "DMA32", "Normal"]
    assert found[1][2:7] == (745409, 100000, 6255, 7818, 9381)
    node = zoneinfo.make(found, Variant.BASELINE)
    assert node.lowmem_reserve[:, -1].tolist() == [7821, 4909, 0]
    assert node.zone["batch"].tolist() == [8, 1563, 2653]


def test_a_summary_says_which_zone_can_never_serve():
    table = report.summary(zoneinfo.read(HERE)).set_index("zone")
    assert table["reachable"].to_dict() == {"DMA": False, "DMA32": True, "Normal": True}
    assert table.loc["DMA32", "baseline"] == pytest.approx(table.loc["DMA32", "size"], abs=0.5)
    assert table.loc["DMA32", "v1"] == table.loc["DMA32", "off"] < 15


def test_an_experiment_takes_its_zones_from_the_file():
    params = parse(Tiobench, {"zoneinfo": str(HERE), "steps": 1, "variant": "v1"})
    table = experiment("fairzone/tiobench").simulate(params)
    assert table.loc[table["counter"] == "resets", "value"].sum() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no zone with managed pages"),
        ("MemTotal: 5 kB\n", "no zone with managed pages"),
        (TEXT[:200], "no line for"),
        (TEXT.replace("        managed  745409\n", ""), "DMA32: no line for managed"),
        (TEXT.replace("protection", "prot"), "no line for protection"),
        (TEXT.replace("DMA32", "DMA64"), "names no zone"),
        (TEXT.replace("low      7818", "low      99999"), "min <= low <= high"),
        (TEXT.replace("745409", "9" * 30), "beyond"),
    ],
)
def test_a_bad_file_gets_one_line(text, said, tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_text(text)
    with pytest.raises(BadInput, match=said) as raised:
        zoneinfo.read(file)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="proc/zoneinfo"):
        zoneinfo.read(tmp_path / "none")
    monkeypatch.setattr(zoneinfo, "LARGEST", 100)
    with pytest.raises(BadInput, match="larger"):
        zoneinfo.read(HERE)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_any_text_is_read_or_refused(data):
    cut = data.draw(st.integers(0, len(TEXT)))
    put = data.draw(st.text(max_size=40))
    try:
        found = zoneinfo.parse(TEXT[:cut] + put + TEXT[cut + len(put) :], "file")
    except BadInput as refused:
        assert "\n" not in str(refused)
    else:
        for zone in found:
            assert 0 <= zone.min <= zone.low <= zone.high <= zone.managed
