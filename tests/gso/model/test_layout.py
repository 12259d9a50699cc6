"""Layouts: the compiler is the judge; slab sizes and macros against their definitions."""

import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorelab.gso.model import layout, structs
from lorelab.gso.model.layout import Field
from lorelab.gso.pages.layout import positions

FIELDS = st.lists(
    st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(1, 5)), min_size=1, max_size=12
)
C_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "void *"}


def fields(drawn):
    return [Field(f"f{n}", align * count, align) for n, (align, count) in enumerate(drawn)]


def compiled(tmp_path, declared: list[Field]) -> list[int]:
    """Offsets and size by gcc."""
    members = "\n".join(
        f"{C_TYPES[f.align]} m{n}[{f.size // f.align}];" for n, f in enumerate(declared)
    )
    prints = "\n".join(f'printf("%zu\\n", offsetof(struct s, m{n}));' for n in range(len(declared)))
    source = (
        f"#include <stddef.h>\n#include <stdio.h>\nstruct s {{{members}}};\n"
        f'int main(void) {{ {prints} printf("%zu\\n", sizeof(struct s)); return 0; }}\n'
    )
    (tmp_path / "s.c").write_text(source)
    subprocess.run(["gcc", "-o", tmp_path / "s", tmp_path / "s.c"], check=True)
    said = subprocess.run([tmp_path / "s"], capture_output=True, text=True, check=True).stdout
    return [int(line) for line in said.split()]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("key", structs.DECLARED)
def test_gcc_lays_the_declarations_out_the_same(tmp_path, key):
    declared = structs.DECLARED[key]
    for before in (None, *(f.name for f in declared if "frags[1" not in f.name)):
        tried = declared if before is None else layout.insert(declared, layout.POINTER, before)
        laid = layout.place(tried)
        assert [f.offset for f in laid.fields] + [laid.size] == compiled(tmp_path, tried), before


@given(FIELDS)
def test_a_layout_covers_its_size_once(drawn):
    laid = layout.place(fields(drawn))
    parts = sorted([*laid.fields, *laid.holes], key=lambda part: part.offset)
    at = 0
    for part in parts:
        assert part.offset == at
        at += part.size
    assert at == laid.size
    assert laid.size % laid.align == 0
    assert all(f.offset % d.align == 0 for f, d in zip(laid.fields, fields(drawn), strict=True))


@given(st.integers(0, 300), st.integers(0, 300))
@example(0, 0)
@example(0, 64)
@example(0, 65)
@example(63, 2)
def test_cache_lines_are_those_of_the_bytes(offset, size):
    touched = {byte // 64 for byte in range(offset, offset + size)}
    assert layout.cache_lines(offset, size) == len(touched)


def test_the_sk_buff_of_the_thread():
    """As pahole shows it for 3.15; everything is declared without a hole but one in the middle."""
    laid = layout.place(structs.SK_BUFF_2014)
    named = ("cb", "_skb_refdst", "len", "csum", "protocol", "destructor", "nfct", "hash")
    assert [laid.offset(name) for name in named] == [40, 88, 104, 116, 126, 128, 136, 156]
    named = ("flags2", "napi_id", "inner_protocol", "mac_header", "tail", "head", "truesize")
    assert [laid.offset(name) for name in named] == [170, 172, 184, 196, 200, 208, 224]
    assert [tuple(hole) for hole in laid.holes] == [("hole", 198, 2)]
    assert (laid.offset("users"), laid.size, laid.align) == (228, 232, 8)


def test_the_thread_s_struct():
    before = layout.place(structs.SHARED_INFO_2014)
    posted = layout.place(
        layout.insert(structs.SHARED_INFO_2014, layout.POINTER, structs.AS_POSTED)
    )
    assert (before.size, before.offset("frags[1]")) == (0x140, 0x40)
    assert (posted.size, posted.offset("frags[1]")) == (0x150, 0x50)
    assert [hole.size for hole in posted.holes] == [4, 4]
    assert layout.data_align(posted.size) == 0x180


@pytest.mark.parametrize(
    ("size", "bucket"),
    [(1, 8), (8, 8), (9, 16), (64, 64), (65, 96), (96, 96), (97, 128), (129, 192), (192, 192),
     (193, 256), (8192, 8192), (8193, 16384), (16385, 32768)],
)  # fmt: skip
def test_buckets_of_kmalloc(size, bucket):
    assert layout.kmalloc_size_roundup(size) == bucket


def test_every_bucket():
    """Slabs of kmalloc(), then a power of two of pages: the least that has room."""
    buckets = [8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
    for size in range(1, 32769):
        assert layout.kmalloc_size_roundup(size) == next(b for b in buckets if b >= size)


def test_a_head_that_just_fits_into_the_small_cache():
    """256 bytes and a shared info of 320 take all 576; one more takes a slab of kmalloc()."""
    assert layout.head_bytes(256, 320, small_head=576) == 576
    assert layout.head_bytes(193, 320, small_head=576) == 576
    assert layout.head_bytes(257, 320, small_head=576) == 1024
    assert layout.head_bytes(256, 320) == 1024
    assert layout.truesize(256, 320, 257, small_head=576) == 576 + 320


@given(st.integers(1, 60_000))
def test_a_head_holds_what_was_asked_and_a_larger_info_takes_no_less(size):
    before, after = layout.head_bytes(size, 320), layout.head_bytes(size, 328)
    assert before >= size + 320
    assert after >= before
    assert layout.truesize(size, 320, 232) == before + 256


def test_small_heads_have_a_cache_of_no_power_of_two():
    for header in (32, 80, 96, 128, 144, 176):
        for shared in (320, 328, 448):
            size = layout.small_head_cache(shared, header)
            assert size & (size - 1)
    # include/linux/netdevice.h: 32 without tunnels, 176 with a distribution's config
    assert layout.small_head_cache(320, 32) == 576
    assert layout.small_head_cache(320, 176) == 704
    # 192 bytes and the header in whole lines: up to 64 they are 256.
    assert [layout.small_head_cache(320, header) for header in (64, 65)] == [576, 640]
    # A power of two is one of kmalloc's own sizes, so the cache takes a line more.
    assert layout.small_head_cache(256, 32) == 512 + 64


def test_one_packet_may_stand_out_of_a_receive_buffer():
    assert layout.fits_receive_buffer(1000, 999) == 1
    assert layout.fits_receive_buffer(1000, 1000) == 2
    assert layout.fits_receive_buffer(1000, 1999) == 2


@pytest.mark.parametrize(("kernel", "size", "slab"), [("6.12", 208, 256), ("7.3", 232, 256)])
def test_the_slab_of_today_s_sk_buff_has_room_for_a_pointer_anywhere(kernel, size, slab):
    assert layout.place(structs.DECLARED[kernel, "sk-buff"]).size == size
    table = positions(kernel=kernel, struct="sk-buff")
    assert (table["aligned"] == slab).all()
    assert table["size"].max() <= size + 16
