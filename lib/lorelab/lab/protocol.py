"""What the guest says: framed, numbered, checksummed lines, written by guest/agent.py."""

import json
import zlib
from typing import Any

PREFIX = b"@lorelab "


class Damaged(Exception):
    """A frame arrived torn, altered or out of order."""


class Reader:
    """Collects the frames of one run out of a stream of bytes.

    Attributes
    ----------
    hello : dict or None
        What the guest said of itself once it ran.
    rows : list of dict
        Results in the order they came, each checked.
    probes : list of dict
        What probes counted, and their events, as guest/probe.py frames them.
    error : str or None
        What the workload died of, when it did.
    lacks : str or None
        What the workload needs and the kernel has not.
    ended : bool
        The last frame has come: nothing is missing.
    """

    def __init__(self) -> None:
        self.hello: dict[str, Any] | None = None
        self.rows: list[dict[str, Any]] = []
        self.probes: list[dict[str, Any]] = []
        self.error: str | None = None
        self.lacks: str | None = None
        self.ended = False
        self._next = 0
        self._tail = b""

    def feed(self, data: bytes) -> None:
        """Take in some bytes; lines that are no frames are a program's chatter and pass by."""
        *lines, self._tail = (self._tail + data).split(b"\n")
        for line in lines:
            if line.startswith(PREFIX):
                self._frame(line.rstrip(b"\r"))

    def _frame(self, line: bytes) -> None:
        try:
            _, number, check, text = line.split(b" ", 3)
            content = json.loads(text)
            whole = zlib.crc32(number + b" " + text) == int(check, 16)
        except ValueError:
            whole = False
        if not whole:
            raise Damaged(f"frame {self._next} from the guest is damaged: {line[:60]!r}")
        if int(number) != self._next or self.ended:
            raise Damaged(f"frame {int(number)} from the guest where {self._next} was due")
        self._next += 1
        kind = content.pop("kind")
        if kind == "hello":
            self.hello = content
        elif kind == "row":
            self.rows.append(content)
        elif kind == "probe":
            self.probes.append(content)
        elif kind == "error":
            self.error = content["message"]
        elif kind == "lacks":
            self.lacks = content["message"]
        elif kind == "end":
            self.ended = True
