"""Where the fields of a C struct lie on x86-64, and what its size costs in memory.

`place()` follows the System V ABI: a field starts at the next multiple of its alignment, and a
struct ends at a multiple of its largest. The rest are the kernel's macros (include/linux/skbuff.h,
include/linux/cache.h) and its slab sizes (mm/slab_common.c), under their names.

Plain integers, no numba: a layout is computed once and read by people.
"""

from typing import NamedTuple

from lorelab.numerics import PAGE

SMP_CACHE_BYTES = 64
"""x86-64: 1 << CONFIG_X86_L1_CACHE_SHIFT."""
KMALLOC_MAX_CACHE_SIZE = 2 * PAGE
"""Above it kmalloc() takes pages, a power of two of them."""


class Field(NamedTuple):
    """A member as declared."""

    name: str
    size: int  # bytes
    align: int  # bytes


class Placed(NamedTuple):
    """A member where it lies."""

    name: str
    offset: int  # bytes
    size: int  # bytes


class Layout(NamedTuple):
    """A struct laid out; holes include what follows the last member."""

    fields: tuple[Placed, ...]
    size: int  # bytes
    align: int  # bytes
    holes: tuple[Placed, ...]

    def offset(self, name: str) -> int:
        """`offsetof(struct, name)`."""
        return next(field.offset for field in self.fields if field.name == name)


POINTER = Field("pointer", 8, 8)
"""What the thread's patch adds."""


def align(value: int, to: int) -> int:
    """`ALIGN(value, to)`: the next multiple of a power of two."""
    return (value + to - 1) & ~(to - 1)


def place(fields: list[Field]) -> Layout:
    """Lay out a struct.

    Parameters
    ----------
    fields : list of Field
        Members in the order of the declaration; adjacent bit fields as the bytes they fill.

    Returns
    -------
    Layout
        Members, size, alignment and holes.
    """
    placed, holes, end, widest = [], [], 0, 1
    for field in fields:
        start = align(end, field.align)
        if start > end:
            holes.append(Placed("hole", end, start - end))
        placed.append(Placed(field.name, start, field.size))
        end = start + field.size
        widest = max(widest, field.align)
    size = align(end, widest)
    if size > end:
        holes.append(Placed("hole", end, size - end))
    return Layout(tuple(placed), size, widest, tuple(holes))


def insert(fields: list[Field], added: Field, before: str) -> list[Field]:
    """The declaration with one member more, in front of `before`."""
    at = [field.name for field in fields].index(before)
    return [*fields[:at], added, *fields[at:]]


def cache_lines(offset: int, size: int) -> int:
    """Cache lines that bytes [offset, offset + size) lie on."""
    return (offset + size - 1) // SMP_CACHE_BYTES - offset // SMP_CACHE_BYTES + 1 if size else 0


def data_align(size: int) -> int:
    """`SKB_DATA_ALIGN(size)`: whole cache lines."""
    return align(size, SMP_CACHE_BYTES)


def kmalloc_size_roundup(size: int) -> int:
    """Bytes that `kmalloc(size)` takes: 96, 192 and the powers of two, then whole pages."""
    if size <= 8:
        return 8
    if size > KMALLOC_MAX_CACHE_SIZE:
        return PAGE << ((size - 1) // PAGE).bit_length()
    if 64 < size <= 96:
        return 96
    if 128 < size <= 192:
        return 192
    return 1 << (size - 1).bit_length()


def small_head_cache(shared_info: int, max_header: int) -> int:
    """`SKB_SMALL_HEAD_CACHE_SIZE` (net/core/skbuff.c, from 6.3), for a shared info of that size.

    Parameters
    ----------
    shared_info : int
        `sizeof(struct skb_shared_info)` [bytes].
    max_header : int
        `MAX_HEADER` of the kernel's config [bytes]: 32, 96 or 128 for the link layers that it
        has, and 48 if it has tunnels (include/linux/netdevice.h).
    """
    max_tcp_header = data_align(128 + max_header)
    gro_max_head_pad = max_header + 128 + 64  # NET_SKB_PAD is 64, NET_IP_ALIGN 0 on x86
    size = data_align(max(max_tcp_header, gro_max_head_pad)) + data_align(shared_info)
    return size + SMP_CACHE_BYTES if size & (size - 1) == 0 else size


def head_bytes(size: int, shared_info: int, small_head: int = 0) -> int:
    """Bytes that `kmalloc_reserve()` takes for a head of `size` bytes and its shared info.

    Parameters
    ----------
    size : int
        Linear bytes asked of `__alloc_skb()`: headroom, headers and data.
    shared_info : int
        `sizeof(struct skb_shared_info)`.
    small_head : int
        Size of the cache for small heads, `small_head_cache()`; 0 before 6.3, which has none.
    """
    wanted = data_align(size) + data_align(shared_info)
    return small_head if wanted <= small_head else kmalloc_size_roundup(wanted)


def truesize(size: int, shared_info: int, sk_buff: int, small_head: int = 0) -> int:
    """`skb->truesize` of a linear skb: `SKB_TRUESIZE()` of the room that its head came out with.

    Parameters
    ----------
    size, shared_info, small_head
        As for `head_bytes`.
    sk_buff : int
        `sizeof(struct sk_buff)` [bytes].
    """
    return head_bytes(size, shared_info, small_head) + data_align(sk_buff)


def fits_receive_buffer(truesize: int, rcvbuf: int) -> int:
    """Packets of one truesize that a UDP socket takes before it drops one.

    `__udp_enqueue_schedule_skb()` (net/ipv4/udp.c) takes a packet while what is queued is not
    above `sk_rcvbuf`, so the last one may stand out.
    """
    return rcvbuf // truesize + 1
