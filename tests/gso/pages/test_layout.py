"""Tables of a layout, against counting byte by byte."""

import pytest

from lorelab.gso.experiments.layout import fields
from lorelab.gso.model import layout, structs
from lorelab.gso.pages.layout import RMEM_DEFAULT, cells, jumps, packets, positions
from lorelab.gso.params import Layout

CASES = [("2014", "none"), ("2014", structs.AS_POSTED), ("2014", "end")]


@pytest.mark.parametrize(("kernel", "pointer"), CASES)
def test_every_byte_is_in_one_cell(kernel, pointer):
    """Of the member, or the hole, that the layout has there."""
    laid = layout.place(fields(Layout(kernel=kernel, pointer=pointer)))
    named = {}
    for part in (*laid.fields, *laid.holes):
        named |= dict.fromkeys(range(part.offset, part.offset + part.size), part.name)
    found = {}
    for cell in cells(laid).itertuples():
        assert 0 <= cell.start < cell.end <= 64
        for byte in range(64 * cell.line + cell.start, 64 * cell.line + cell.end):
            assert byte not in found
            found[byte] = cell.field
    assert found == named
    assert set(found) == set(range(laid.size))


def test_a_member_across_two_lines_has_two_cells():
    laid = layout.place([layout.Field("long", 100, 4), layout.Field("end", 4, 4)])
    rows = list(cells(laid).itertuples(index=False, name=None))
    assert rows == [("long", 0, 0, 64), ("long", 1, 0, 36), ("end", 1, 36, 40)]


def test_sizes_that_jump_are_the_ones_whose_bucket_is_another():
    table = jumps(320, 328, largest=800)
    listed = {
        size: (row.bucket_before, row.bucket_after)
        for row in table.itertuples()
        for size in range(row.first, row.last + 1)
    }
    expected = {}
    for size in range(1, 801):
        old, new = layout.head_bytes(size, 320), layout.head_bytes(size, 328)
        if old != new:
            expected[size] = old, new
    assert listed == expected
    # One range each: the shared info takes 64 bytes more, so 64 sizes before a bucket's end.
    assert list(table["first"]) == [129, 641]
    assert list(table["last"]) == [192, 704]


def test_packets_by_hand():
    """160 bytes asked: a kmalloc() of 512 becomes one of 1024; sk_buff of 232 takes 256."""
    [row] = packets(range(160, 161), 320, 328).itertuples(index=False)
    assert (row.size, row.before, row.after) == (160, 512 + 256, 1024 + 256)
    assert (row.frag_before, row.frag_after) == (192 + 320 + 256, 192 + 384 + 256)
    assert (row.fit_before, row.fit_after) == (-(-RMEM_DEFAULT // 768), -(-RMEM_DEFAULT // 1280))
    # In a cache of small heads both are as large as that cache says.
    [row] = packets(range(60, 61), 320, 328, small_head=(576, 640)).itertuples(index=False)
    assert (row.before, row.after) == (576 + 256, 640 + 256)


def test_places_of_the_pointer():
    table = positions().set_index("before")
    laid = layout.place(fields(Layout(pointer="dataref")))
    row = table.loc["dataref"]
    assert (row["size"], row["aligned"]) == (laid.size, 384)
    assert row["holes"] == sum(hole.size for hole in laid.holes) == 8
    assert (row["frags1"], row["lines"]) == (0x50, 2)
    assert table.loc["none", ["size", "frags1", "lines"]].to_list() == [320, 0x40, 1]
    assert not any("frags[" in name for name in table.index if name != "frags[0]")
    assert list(table.index[[0, -1]]) == ["none", "end"]
