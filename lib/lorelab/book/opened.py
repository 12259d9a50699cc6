"""Which files under a folder were opened meanwhile, by anyone: Linux's inotify.

Python's own opens are known from the watching kernels (`lorelab.book.watch`). This sees the others,
above all pyarrow's, which opens Parquet files in C++; it can't tell who opened.
"""

import ctypes
import os
import select
import struct
import threading
from pathlib import Path

IN_OPEN, IN_ISDIR, IN_Q_OVERFLOW = 0x20, 0x40000000, 0x4000
EVENT = struct.Struct("iIII")
SECONDS = 0.1
"""Between looks at whether it is over."""


class Opened:
    """Context manager; afterwards `files` has the opened ones, or None if too many to tell."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: set[Path] | None = set()

    def __enter__(self) -> "Opened":
        libc = ctypes.CDLL(None, use_errno=True)
        self._queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._watched = {}
        for folder, _, _ in os.walk(self.folder):
            watch = libc.inotify_add_watch(self._queue, os.fsencode(folder), IN_OPEN)
            if watch < 0:
                raise OSError(ctypes.get_errno(), f"cannot watch {folder} (inotify)")
            self._watched[watch] = Path(folder)
        # Read as they come: the queue holds 16,384, and a page of many records opens more.
        self._over = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._reader.join()
        os.close(self._queue)

    def _read(self) -> None:
        last = False
        while not last:
            last = self._over.is_set()
            select.select([self._queue], [], [], 0 if last else SECONDS)
            try:
                while True:
                    self._note(os.read(self._queue, 1 << 16))
            except BlockingIOError:
                pass

    def _note(self, events: bytes) -> None:
        at = 0
        while at < len(events):
            watch, mask, _, length = EVENT.unpack_from(events, at)
            at += EVENT.size
            name = events[at : at + length].rstrip(b"\0")
            at += length
            if mask & IN_Q_OVERFLOW:
                self.files = None
            elif self.files is not None and name and not mask & IN_ISDIR:
                self.files.add(self._watched[watch] / os.fsdecode(name))
