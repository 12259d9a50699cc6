"""BTF: what the reader says of a kernel's structs, against the layout rules and a made-up blob."""

import struct
from pathlib import Path

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import btf, layout
from lorelab.gso.model.layout import place
from lorelab.gso.params import Layout
from lorelab.judging.agreement import AgreementVerdict

STRUCTS = ("skb_shared_info", "sk_buff", "sk_buff_fclones", "ubuf_info")


@pytest.mark.skipif(not btf.RUNNING.exists(), reason="this kernel has no BTF")
def test_the_running_kernel_s_structs_follow_the_layout_rules():
    types = btf.read(btf.RUNNING)
    for name in STRUCTS:
        fields, placed, size = btf.declaration(types, name)
        laid = place(fields)
        assert list(laid.fields) == placed
        assert laid.size == size


def blob(members: list[tuple[int, int]]) -> bytes:
    """BTF of `struct s` with an int, bit fields and a pointer: `(type, offset)` of each member."""
    strings = b"\0int\0s\0a\0b\0c\0"
    types = struct.pack("<IIII", 1, btf.INT << 24, 4, 32)
    types += struct.pack("<III", 0, btf.PTR << 24, 0)
    types += struct.pack("<III", 5, 1 << 31 | btf.STRUCT << 24 | len(members), 24)
    for name, (number, offset) in zip((7, 9, 11), members, strict=False):
        types += struct.pack("<III", name, number, offset)
    header = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(strings))
    return header + types + strings


def test_bit_fields_are_the_bytes_that_they_fill(tmp_path):
    file = tmp_path / "btf"
    file.write_bytes(blob([(1, 0), (1, 3 << 24 | 32), (2, 64)]))
    _, placed, size = btf.declaration(btf.read(file), "s")
    assert [(field.name, field.offset, field.size) for field in placed] == [
        ("a", 0, 4), ("b", 4, 1), ("c", 8, 8),
    ]  # fmt: skip
    assert size == 24
    with pytest.raises(BadInput, match="no struct t"):
        btf.declaration(btf.read(file), "t")


def test_what_is_no_kernel_is_said_to_be_none(tmp_path):
    with pytest.raises(BadInput, match="takes a bzImage"):
        btf.read(tmp_path / "nothing")
    (tmp_path / "text").write_text("not a kernel")
    with pytest.raises(BadInput, match="has no BTF"):
        btf.read(tmp_path / "text")


def test_the_chapter_s_kernel_has_the_declared_shared_info():
    asked, params = experiment("gso/layout"), Layout(kernel="6.12")
    record = asked.recorded(params)
    assert record is not None
    assert asked.agree(params, record).verdict == AgreementVerdict.PASSED


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no kernel of then"),
        ({"kernel": "7.3"}, "takes --kernel"),
        ({"kernel": "6.12", "pointer": "end"}, "has what it has"),
    ],
)
def test_bad_input(given, said):
    with pytest.raises(BadInput, match=said):
        layout.measure([Layout(**given)])


def test_a_kernel_of_the_reader_s_own_that_is_not_there():
    from lorelab.lab.run import RunOptions

    with pytest.raises(BadInput):
        layout.measure([Layout(kernel="6.12")], RunOptions(image=Path("/nonexistent")))
