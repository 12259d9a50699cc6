"""A reader's zoneinfo: its zones are the model's, and a bad file gets one line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.cli import cli
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.fairzone.pages import report
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.recording import zoneinfo
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


SINCE_4_8 = TEXT.replace("  pagesets", "      nr_zone_active_file 5\n  pagesets")


def test_a_whole_file_since_4_8_is_read(tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_text("$ cat /proc/zoneinfo\n" + SINCE_4_8)
    assert zoneinfo.read(file) == zoneinfo.read(HERE)


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
        (TEXT.replace("Node 0, zone   Normal", "* Node 0, zone   Normal"), "before a zone"),
        (TEXT.split("\n", 1)[1], "begins in the middle of a zone"),
        # As tail leaves it: of the first zone no mark is left.
        *(
            (f"  {line}\n" + TEXT, "begins in the middle of a zone")
            for line in [
                "      protection: (0, 0, 0)",
                "pagesets",
                "  cpu: 1",
                "vm stats threshold: 20",
                "start_pfn:           4096",
                "all_unreclaimable: 0",
                "inactive_ratio:    5",
                "reserved_highatomic: 0",
                "free_highatomic:     0",
            ]
        ),
        (SINCE_4_8[SINCE_4_8.index("Node 0, zone    DMA32") :], "node 0 lacks its first zone"),
        (TEXT[: TEXT.index("Node 0, zone   Normal")], "node 0 keeps pages for a zone that"),
        (TEXT + TEXT, "a zone twice"),
        (TEXT.replace("745409", "9" * 30), "beyond"),
        # Zones of no kernel.
        (TEXT.replace("zone   Normal", "zone    DMA32"), "a zone twice"),
        (TEXT.replace("(0, 0, 4909, 4909, 4909)", "(0, 0)"), "no kernel has together"),
        (TEXT.replace(", 7821", ", 7821" * 4), "no kernel has together"),
    ],
)
def test_a_bad_file_gets_one_line(text, said, tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_text(text)
    with pytest.raises(BadInput, match=said) as raised:
        zoneinfo.read(file)
    assert "\n" not in str(raised.value)


OK = """Node 0, zone    DMA32
  pages free     90000
        boost    0
        min      700
        low      900
        high     1100
        managed  120000
        protection: (0, 0, 300, 300)
Node 0, zone   Normal
  pages free     20000
        boost    0
        min      500
        low      600
        high     700
        managed  76800
        protection: (0, 0, 0, 0)
"""
ZONES = [
    (0, "DMA32", 120_000, 90_000, 700, 900, 1100, (0, 0, 300, 300)),
    (0, "Normal", 76_800, 20_000, 500, 600, 700, (0, 0, 0, 0)),
]
ZONES_READ = [zoneinfo.Zone(*zone) for zone in ZONES]
INDENTED = "".join(f"    {line}\n" for line in OK.splitlines())


@pytest.mark.parametrize(
    "copy",
    [
        OK.encode(),
        b"\xef\xbb\xbf" + OK.encode(),
        OK.encode("utf-16"),
        OK.replace("\n", "\r\n").encode(),
        OK.replace("\n", "\r\r\n").encode(),
        OK.replace("\n", "\r").encode(),
        OK.replace("\n", "\r").encode("utf-16"),
        (" " + OK).encode(),
        INDENTED.encode(),
        INDENTED[4:].encode(),
        OK.replace(" ", "\u00a0").encode(),
        "".join(f"> > {line}\n" for line in OK.splitlines()).encode(),
        "".join(f"| {line}\n" for line in OK.splitlines()).encode(),
        "".join(f"{line.strip()}\n" for line in OK.splitlines()).encode(),
        b"$ cat /proc/zoneinfo\n" + OK.encode(),
    ],
)
def test_a_copy_from_a_mail_or_a_terminal_is_read_whole(copy, tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_bytes(copy)
    assert zoneinfo.read(file) == ZONES


def test_each_node_has_a_block(tmp_path):
    file = tmp_path / "zoneinfo"
    other = OK[OK.index("Node 0, zone   Normal") :].replace("Node 0", "Node 1")
    file.write_text(other.replace("76800", "9900") + OK)
    nodes = zoneinfo.read_nodes(file)
    assert [[(z.node, z.name, z.managed) for z in found] for found in nodes] == [
        [(1, "Normal", 9900)],
        [(0, "DMA32", 120_000), (0, "Normal", 76_800)],
    ]
    assert zoneinfo.read(file) == ZONES
    table = report.nodes([found[-1:] for found in nodes])
    assert list(zip(table["node"], table["size"], strict=True)) == [(1, 100.0), (0, 100.0)]


def _empty(name):
    rows = "\n".join(f"        {field} 0" for field in ("min", "low", "high", "managed"))
    return f"Node 0, zone   {name}\n  pages free 0\n{rows}\n"


def test_what_is_left_out_is_named(tmp_path, monkeypatch):
    file = tmp_path / "zoneinfo"
    other = OK[OK.index("Node 0, zone   Normal") :].replace("Node 0", "Node 1")
    file.write_text(OK + _empty("Movable") + _empty("Exotic") + other)
    dump = zoneinfo.dump(file)
    assert dump.empty == [(0, "Movable"), (0, "Exotic")]
    assert dump.node_lru is None
    monkeypatch.setattr(report, "MOST_FRAMES", 100_000)
    assert report.notes(dump, 500, 64) == [
        "shares are the model's, on a disk of 500 MB/s and with pages of 64 KiB",
        "whatever your machine has, the model has 4 CPUs, and a kswapd that looks at 30 pages "
        "while the disk moves one",
        report.OWN[None],
        "left out, for they have no managed pages: node 0 Movable, node 0 Exotic",
        "node 0 has no shares: 100000 pages are simulated",
        "each node by itself: what spills from one to another is not modelled",
    ]


@pytest.mark.parametrize(
    ("line", "since"), [("  per-node stats\n", True), ("    nr_alloc_batch 5\n", False)]
)
def test_the_file_tells_whether_its_kernel_has_one_lru_a_node(line, since, tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_text(OK.replace("  pages free     90000\n", line + "  pages free     90000\n"))
    dump = zoneinfo.dump(file)
    assert (dump.node_lru, dump.empty) == (since, [])
    assert report.OWN[since] in report.notes(dump)


def test_the_disk_and_the_page_are_the_readers(monkeypatch):
    naps = []
    monkeypatch.setattr(report, "_shares", lambda found, variant, nap: naps.append(nap) or 0)
    for disk, page in ((132, 4), (0, 4), (3500, 64)):
        report.summary(ZONES_READ, disk, page)
    assert sorted(set(naps)) == [0, 3223, 5341]


def test_marks_may_be_above_what_a_zone_has(tmp_path):
    """min_free_kbytes and the boost know no zone's size."""
    file = tmp_path / "zoneinfo"
    file.write_text(OK.replace("76800", "600"))
    found = zoneinfo.read(file)
    assert found[1][2:7] == (600, 20_000, 500, 600, 700)
    table = report.summary(found).set_index("zone")
    assert table["reachable"].to_dict() == {"DMA32": True, "Normal": False}
    assert table["baseline"].sum() == pytest.approx(100, abs=0.02)


def test_a_file_that_is_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="proc/zoneinfo"):
        zoneinfo.read(tmp_path / "none")
    monkeypatch.setattr(zoneinfo, "LARGEST", 100)
    with pytest.raises(BadInput, match="larger"):
        zoneinfo.read(HERE)


@settings(max_examples=200, derandomize=True)
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
            assert 0 <= zone.min <= zone.low <= zone.high


FORMS = ("3.12", "4.4", "4.8", "4.14", "6.12", "7.3")
PER_NODE = "\n  per-node stats\n      nr_inactive_anon 7\n      nr_active_anon 9"


def written(form, node, zones, types):
    """A zoneinfo as zoneinfo_show_print() of that kernel writes it (mm/vmstat.c)."""
    text = []
    first = True
    for name, (free, low, high, managed, kept) in zones.items():
        protection = f"\n        protection: ({', '.join(map(str, kept))})"
        block = f"Node {node}, zone {name:>8}"
        if first and form in ("4.8", "4.14", "6.12", "7.3"):
            block += PER_NODE
        first = False
        block += f"\n  pages free     {free}"
        if form in ("6.12", "7.3"):
            block += "\n        boost    0"
        block += (
            f"\n        min      {low * 4 // 5}\n        low      {low}\n        high     {high}"
        )
        if form == "7.3":
            block += f"\n        promo    {high + high // 4}"
        if form in ("3.12", "4.4"):
            block += "\n        scanned  0"
        if form == "4.8":
            block += "\n   node_scanned  0"
        block += f"\n        spanned  {managed + 99}\n        present  {managed + 9}"
        block += f"\n        managed  {managed}"
        if form in ("6.12", "7.3"):
            block += "\n        cma      0"
        stats = "\n    nr_free_pages 1\n    nr_alloc_batch 5" if form in ("3.12", "4.4") else ""
        block += protection + stats if form in ("4.14", "6.12", "7.3") else stats + protection
        block += "\n  pagesets\n    cpu: 0\n              count: 1\n              high:  186"
        block += "\n              batch: 31\n  vm stats threshold: 6\n  start_pfn:           1\n"
        text.append(block)
    if form not in ("3.12", "4.4", "4.8"):
        for name in types:
            if name not in zones:
                empty = ", ".join("0" for _ in types)
                text.append(
                    f"Node {node}, zone {name:>8}\n  pages free     0\n        min      0"
                    "\n        low      0\n        high     0\n        spanned  0"
                    f"\n        present  0\n        managed  0\n        protection: ({empty})\n"
                )
    return "".join(text)


BUILT = [
    ("DMA", "DMA32", "Normal", "Movable"),
    ("DMA", "DMA32", "Normal", "Movable", "Device"),
    ("DMA32", "Normal", "Movable", "Device"),
    ("DMA32", "Normal", "Movable"),
    ("DMA", "Normal", "HighMem", "Movable"),
    ("Normal", "HighMem", "Movable"),
]


@settings(max_examples=150, derandomize=True)
@given(st.data())
def test_zones_of_every_kernel_come_out_as_they_are(data):
    form = data.draw(st.sampled_from(FORMS))
    types = data.draw(st.sampled_from(BUILT))
    usable = [name for name in types if name != "Device"]
    names = data.draw(st.lists(st.sampled_from(usable), min_size=1, unique=True))
    sizes = {n: data.draw(st.integers(4000, 10**7)) for n in types if n in names}
    zones = {}
    for name, managed in sizes.items():
        at = types.index(name)
        above = [[sizes.get(n, 0) for n in types[at + 1 : to + 1]] for to in range(len(types))]
        kept = [sum(part) // 256 for part in above]
        low = data.draw(st.integers(1, managed // 4))
        high = data.draw(st.integers(low, managed // 2))
        zones[name] = (data.draw(st.integers(0, managed)), low, high, managed, kept)
    found = zoneinfo.parse(written(form, 1, zones, types), "file")
    assert [(z.name, z.free, z.low, z.high, z.managed) for z in found] == [
        (name, *told[:4]) for name, told in zones.items()
    ]
    assert not zoneinfo._lacks(found, set(sizes))
    assert zoneinfo.reserves(found).tolist() == [
        [
            sum(list(sizes.values())[low + 1 : klass + 1]) // 256 if klass > low else 0
            for klass in range(len(sizes))
        ]
        for low in range(len(sizes))
    ]


def test_both_doors_refuse_with_one_line(tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_bytes(b"\x00\xff" * 500)
    for words in (["fairzone"], ["model", "fairzone/tiobench", "-p"]):
        last = str(file) if words == ["fairzone"] else f"zoneinfo={file}"
        with pytest.raises(BadInput, match="is not text; give a copy of /proc/zoneinfo"):
            cli.main([*words, last], standalone_mode=False)


def test_zones_too_large_to_simulate(tmp_path):
    file = tmp_path / "zoneinfo"
    file.write_text(TEXT.replace("1256904", str(1 << 30)))
    with pytest.raises(BadInput, match="256 GiB in all"):
        experiment("fairzone/tiobench").simulate(parse(Tiobench, {"zoneinfo": str(file)}))
    table = report.summary(zoneinfo.read(file))
    assert table["v1"].isna().all() and table["size"].notna().all()
