"""Read struct layouts out of a kernel: its BTF, which it carries for bpf (kernel/bpf/btf.c).

Takes what readers have: `/sys/kernel/btf/vmlinux`, a vmlinux, or a bootable bzImage. The format is
Documentation/bpf/btf.rst; only what a struct's layout takes is read.
"""

import lzma
import struct
import subprocess
import zlib
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput
from lorelab.gso.model.layout import Field, Placed

RUNNING = Path("/sys/kernel/btf/vmlinux")
MAGIC = b"\x9f\xeb\x01"
INT, PTR, ARRAY, STRUCT, UNION, ENUM = 1, 2, 3, 4, 5, 6
TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC_PROTO = 8, 9, 10, 11, 13
VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = 14, 15, 16, 17, 18, 19
TRAILING = {  # bytes behind the 12 of each type: (fixed, for each of vlen)
    INT: (4, 0),
    ARRAY: (12, 0),
    STRUCT: (0, 12),
    UNION: (0, 12),
    ENUM: (0, 8),
    FUNC_PROTO: (0, 8),
    VAR: (4, 0),
    DATASEC: (0, 12),
    DECL_TAG: (4, 0),
    ENUM64: (0, 12),
}


class Type(NamedTuple):
    """One type; `size` is a type's number where the kind refers to one."""

    name: int  # offset in the strings
    kind: int
    vlen: int
    bitfields: bool  # offsets of members carry their width in the upper 8 bits
    size: int  # bytes, or the number of another type
    at: int  # where what follows the type begins


class Btf(NamedTuple):
    """A kernel's types."""

    blob: bytes
    types: list[Type | None]
    strings: bytes

    def name(self, offset: int) -> str:
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()


def read(path: Path) -> Btf:
    """Read the BTF of a kernel.

    Parameters
    ----------
    path : Path
        Raw BTF, a vmlinux or a bzImage.

    Raises
    ------
    BadInput
        The file is missing, or has no BTF that can be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; takes a bzImage, a vmlinux or BTF") from None
    if data[514:518] == b"HdrS":
        data = _unpack(data, path)
    if data[:4] == b"\x7fELF":
        data = _section(data, b".BTF", path)
    if data[:3] != MAGIC:
        raise BadInput(
            f"{path} has no BTF: takes a bzImage, a vmlinux or BTF (CONFIG_DEBUG_INFO_BTF)"
        )
    return _parse(data)


def _unpack(image: bytes, path: Path) -> bytes:
    """The vmlinux inside a bzImage (Documentation/arch/x86/boot.rst, protocol 2.08)."""
    setup = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    packed = image[(setup + 1) * 512 + offset :][:length]
    if packed[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(packed)
    if packed[:6] == b"\xfd7zXZ\0":
        return lzma.LZMADecompressor().decompress(packed)
    if packed[:4] == b"\x28\xb5\x2f\xfd":
        return _pipe(["zstd", "-dcq"], packed, path)
    raise BadInput(f"{path} is packed in a way that is not read here: give its vmlinux, or its BTF")


def _pipe(command: list[str], packed: bytes, path: Path) -> bytes:
    try:
        # what follows the packed kernel is not zstd, which zstd says after it has unpacked it
        return subprocess.run(command, input=packed, capture_output=True, check=False).stdout
    except FileNotFoundError:
        raise BadInput(f"{path} is packed with zstd: install zstd, or give its vmlinux") from None


def _section(elf: bytes, name: bytes, path: Path) -> bytes:
    sections, size, count, names = (
        struct.unpack_from("<Q", elf, 40)[0],
        *struct.unpack_from("<HHH", elf, 58),
    )
    headers = [struct.unpack_from("<IIQQQQ", elf, sections + n * size) for n in range(count)]
    table = headers[names][4]
    for header in headers:
        start = table + header[0]
        if elf[start : elf.index(b"\0", start)] == name:
            return elf[header[4] : header[4] + header[5]]
    raise BadInput(f"{path} has no BTF: it was built without CONFIG_DEBUG_INFO_BTF")


def _parse(blob: bytes) -> Btf:
    hdr, type_off, type_len, str_off, str_len = struct.unpack_from("<IIIII", blob, 4)
    types: list[Type | None] = [None]
    at, end = hdr + type_off, hdr + type_off + type_len
    while at < end:
        name, info, size = struct.unpack_from("<III", blob, at)
        kind, vlen = info >> 24 & 31, info & 0xFFFF
        fixed, each = TRAILING.get(kind, (0, 0))
        types.append(Type(name, kind, vlen, bool(info >> 31), size, at + 12))
        at += 12 + fixed + each * vlen
    return Btf(blob, types, blob[hdr + str_off : hdr + str_off + str_len])


def _measure(btf: Btf, number: int) -> tuple[int, int]:
    """Size and alignment of a type [bytes]."""
    kind = btf.types[number]
    if kind is None:
        return 1, 1  # void
    if kind.kind == PTR:
        return 8, 8
    if kind.kind in (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG):
        return _measure(btf, kind.size)
    if kind.kind == ARRAY:
        element, _, length = struct.unpack_from("<III", btf.blob, kind.at)
        size, align = _measure(btf, element)
        return size * length, align
    if kind.kind in (STRUCT, UNION):
        aligns = [_measure(btf, member)[1] for _, member, _ in _members(btf, kind)]
        return kind.size, max(aligns, default=1)
    return kind.size, kind.size


def _members(btf: Btf, of: Type) -> list[tuple[int, int, int]]:
    """`(name, type, offset)` of each member."""
    return [struct.unpack_from("<III", btf.blob, of.at + 12 * n) for n in range(of.vlen)]


def declaration(btf: Btf, name: str) -> tuple[list[Field], list[Placed], int]:
    """A struct as the kernel has it.

    Parameters
    ----------
    btf : Btf
    name : str
        Without the word `struct`.

    Returns
    -------
    fields : list of Field
        Members with their sizes and alignments, so that the layout can be computed anew with one
        more (`layout.place`); an anonymous union is one member, called after its first member;
        bit fields are the bytes that they fill; the elements of the array `frags` are apart.
    placed : list of Placed
        The same where the kernel has them.
    size : int
        Bytes.

    Raises
    ------
    BadInput
        The kernel has no such struct.
    """
    for kind in btf.types[1:]:
        if kind.kind == STRUCT and kind.size and btf.name(kind.name) == name:
            break
    else:
        raise BadInput(f"this kernel has no struct {name}")
    fields: list[Field] = []
    placed: list[Placed] = []
    for member, number, offset in _members(btf, kind):
        bits = offset >> 24 if kind.bitfields else 0
        start = (offset & 0xFFFFFF if kind.bitfields else offset) // 8
        size, align = (1, 1) if bits else _measure(btf, number)
        if not size or (bits and placed and placed[-1].offset == start):
            continue
        label = _called(btf, member, number)
        parts = size // 16 if label == "frags" else 1
        for n in range(parts):
            part = f"{label}[{n}]" if parts > 1 else label
            fields.append(Field(part, size // parts, align))
            placed.append(Placed(part, start + n * (size // parts), size // parts))
    return fields, placed, kind.size


def _called(btf: Btf, name: int, number: int) -> str:
    while not name:
        name, number, _ = _members(btf, btf.types[number])[0]
    return btf.name(name)
