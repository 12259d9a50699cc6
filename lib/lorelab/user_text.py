"""Text of a file that a reader brings: from any editor, terminal or tool, cut names and all."""

import codecs
from pathlib import Path

from lorelab.errors import BadInput

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LOST = (
    r"^[ \t]*CPU:\d+ \[(?:LOST (?:\d+ )?EVENTS|(?:\d+ )?EVENTS DROPPED)\]"
    r"|^.*\sPERF_RECORD_LOST(?:_SAMPLES)? lost [1-9]|^Processed \d+ \w+ and lost "
)
"""What a line says where a trace lacks events: of ftrace and trace-cmd; of perf script
--show-lost-events, and its warning."""
LARGEST = 2**31
"""Bytes that are read at most."""


def read(file: Path, instead: str, largest: int = LARGEST) -> str:
    r"""Text of a file, its lines ended by \n.

    The kernel cuts a thread's name after 15 bytes, in the middle of a character too, so bytes that
    are no UTF-8 become U+FFFD. PowerShell writes UTF-16 where output is redirected.

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
        The file can't be read, is too large, or is binary.

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
    text = data.decode("utf-8-sig", errors="replace")
    if data.startswith(UTF16) and "\n" in (wide := data.decode("utf-16", errors="replace")):
        text = wide
    if "\0" in text:
        raise BadInput(f"{file} is not text; {instead}")
    return text.replace("\r\n", "\n")
