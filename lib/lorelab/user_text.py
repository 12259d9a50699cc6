"""Text of a file that a reader brings: from any editor, terminal or tool, cut names and all."""

import codecs
import re
from pathlib import Path

from lorelab.errors import BadInput

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LOST_HERE = (
    r"^(?:.*: )?[ \t]*CPU:\d+ \[(?:LOST (?:\d+ )?EVENTS|(?:\d+ )?EVENTS DROPPED)\]"
    r"|^.*\sPERF_RECORD_LOST lost [1-9]"
)
"""What a line says where a trace lacks events: of ftrace and trace-cmd, which may name the file
before it; of perf script --show-lost-events."""
LOST = LOST_HERE + (
    r"|^.*\sPERF_RECORD_LOST_SAMPLES lost [1-9]|^Processed \d+ \w+ and lost "
    r"|^##### CPU \d+ buffer started ####"
)
"""The same, or what says that events are lost, and not where: perf record counts them at its end,
and perf script warns; ftrace says where a CPU's buffer begins, if one of them ran over."""
QUOTED = re.compile(rb"^(?:[>|] ?)+", re.MULTILINE)
COLOURED = re.compile(rb"\x1b\[[0-9;]*[mK]")
"""Of grep --color=always, and of what a terminal logged."""
PACKED = {
    b"\x1f\x8b": "gzip -d",
    b"\xfd7zXZ\0": "xz -d",
    b"BZh": "bzip2 -d",
    b"\x28\xb5\x2f\xfd": "zstd -d",
    b"\x04\x22\x4d\x18": "lz4 -d",
    b"PK\x03\x04": "unzip",
}
"""First bytes of a packed file, and what unpacks it."""
TRACED = {
    b"PERFILE2": ("perf.data", "perf script -i"),
    b"\x17\x08\x44tracing": ("trace.dat", "trace-cmd report -i"),
}
"""First bytes of what a tracer writes, its usual name, and what prints it."""
LARGEST = 2**31
"""Bytes that are read at most."""


def read(file: Path, instead: str, largest: int = LARGEST) -> str:
    r"""Text of a file, its lines ended by \n.

    The kernel cuts a thread's name after 15 bytes, in the middle of a character too, so bytes that
    are no UTF-8 become U+FFFD.

    Parameters
    ----------
    file : Path
        The reader's file.
    instead : str
        What to give instead, for a file that is not of its kind.
    largest : int
        Bytes of a file that is read.

    Raises
    ------
    BadInput
        The file can't be read, is too large, packed, or binary.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "perf.txt")
    ...     _ = file.write_bytes(b"kworker/u8:\xe2\x82 7.5\r\n")
    ...     read(file, "take perf script's text")
    'kworker/u8:� 7.5\n'
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(largest + 1)
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}; {instead}") from None
    if len(data) > largest:
        raise BadInput(f"{file} is larger than {largest >> 20} MiB; {instead}")
    if why := other(data):
        raise BadInput(f"{file} {why}")
    text = plain(data).decode(errors="replace")
    if "\0" in text:
        raise BadInput(f"{file} is not text; {instead}")
    return text


def other(data: bytes) -> str:
    r"""What a file is that is not text yet, and what makes text of it; empty for any other.

    Examples
    --------
    >>> other(b"\x1f\x8b\x08"), other(b"BZ: 1")
    ('is packed; unpack it first, with gzip -d', '')
    >>> other(b"PERFILE2" + bytes(8))
    'is perf.data; give what `perf script -i` prints of it'
    """
    for start, command in PACKED.items():
        if data.startswith(start):
            return f"is packed; unpack it first, with {command}"
    for start, (name, command) in TRACED.items():
        if data.startswith(start):
            return f"is {name}; give what `{command}` prints of it"
    return ""


def plain(data: bytes) -> bytes:
    r"""UTF-8 of a text, its lines ended by \n and not quoted.

    PowerShell writes UTF-16 where output is redirected. Lines end with \r\n there, with \r\r\n
    where two programs saw to it, with \r alone on old Macs. In a mail that answers they begin with
    > or |. Colours of a terminal are left out.

    Examples
    --------
    >>> plain(b"> a\r\n> b\r\n"), plain("a\r".encode("utf-16")), plain(b"a\r b\n")
    (b'a\nb\n', b'a\n', b'a\r b\n')
    """
    return QUOTED.sub(b"", newlines(COLOURED.sub(b"", narrow(data))))


def narrow(data: bytes) -> bytes:
    r"""UTF-8 of a text in UTF-16, and any other as it is, without the mark before it.

    Examples
    --------
    >>> narrow("a\r\n".encode("utf-16")), narrow(b"\xef\xbb\xbfa")
    (b'a\r\n', b'a')
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.startswith(UTF16):
        wide = data.decode("utf-16", errors="replace")
        data = wide.encode() if "\n" in wide or "\r" in wide else data
    return data


def newlines(data: bytes) -> bytes:
    r"""Bytes of a text whose lines end with \n, however they ended.

    Examples
    --------
    >>> newlines(b"a\r\nb\r\r\n"), newlines(b"a\rb\r")
    (b'a\nb\n', b'a\nb\n')
    """
    data = re.sub(rb"\r+\n", b"\n", data)
    return data if b"\n" in data else data.replace(b"\r", b"\n")
