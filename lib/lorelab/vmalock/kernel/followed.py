"""`vmalock/followed` on a real kernel: each step of each fault and each writer, in their order."""

import base64
import zlib

import numpy as np
import pandas as pd

from lorelab.errors import RunFailed
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import Params
from lorelab.vmalock.kernel import boot
from lorelab.vmalock.params import Followed

NAME = "vmalock/followed"
ENTRY = np.dtype(
    [
        ("vma", "<u8"),
        ("task", "<u4"),
        ("event", "<u4"),
        ("vm_lock_seq", "<u4"),
        ("mm_lock_seq", "<u4"),
        ("cpu", "<u4"),
        ("holder", "<i4"),
    ]
)
"""struct vmalock_entry of the kernel's patch."""
COLUMNS = ["event", "task", "vma", "vm_lock_seq", "mm_lock_seq", "holder"]


def _request(batch: list[Followed]) -> Request:
    return boot.threads(batch, log=True)


def log_of(params: Params, measured: Measured, run: int) -> pd.DataFrame:
    """The log of a run, one row a step, columns `COLUMNS`.

    Events are named as in the kernel's patch, tasks and VMAs numbered from 1 as they appear, 0 for
    no VMA.

    Raises
    ------
    RunFailed
        The log has no room for the run.
    """
    log = log_table(boot.pieces_of(measured, run))
    if len(log) != boot.logged(measured, run):
        raise RunFailed(f"the log has room for {len(log)} steps: ask for fewer rounds or pages")
    return log


def log_table(pieces: list[str]) -> pd.DataFrame:
    """A log as the guest sent it, as a table."""
    from lorelab.vmalock.model.replay import NAMES

    packed = b"".join(base64.b64decode(piece) for piece in pieces)
    entries = np.frombuffer(zlib.decompress(packed), ENTRY)
    table = pd.DataFrame({name: entries[name].astype(np.int64) for name in ENTRY.names})
    table["event"] = np.array(NAMES)[entries["event"]]
    table["task"] = pd.factorize(table["task"])[0] + 1
    known = table["vma"] != 0
    table.loc[known, "vma"] = pd.factorize(table.loc[known, "vma"])[0] + 1
    return table[COLUMNS]


measure = Measurement(NAME, _request, log_of, machine=boot.cpus)
