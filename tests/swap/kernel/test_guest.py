"""swap's program in the guest: a run whose folios did not come is done again."""

import os
import runpy
from contextlib import nullcontext
from pathlib import Path

import pytest

from lorelab.lab.cache import KERNEL_FILES


class Came:
    """Stands for one run in the guest: what is missing of its folios, attempt by attempt."""

    def __init__(self, *missing):
        self.missing, self.attempts = list(missing), 0

    def __call__(self, wanted, instructions):
        self.attempts += 1
        return {"counters": self.attempts}, self.missing.pop(0)


def in_the_guest(monkeypatch, came):
    """Let the guest's program go through one run, on no machine."""
    monkeypatch.syspath_prepend(KERNEL_FILES / "common" / "guest")
    guest = runpy.run_path(str(KERNEL_FILES / "swap" / "guest" / "swapout.py"))["run"]
    for name in ("DEVICE", "THP"):
        monkeypatch.setitem(guest.__globals__, name, Path("/"))
    for name in ("prepare", "attach"):
        monkeypatch.setitem(guest.__globals__, name, lambda: None)
    monkeypatch.setitem(guest.__globals__, "swap", nullcontext)
    monkeypatch.setitem(guest.__globals__, "one", came)
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: None)
    wanted = {"switches": {}, "order": 4}
    return list(guest({"rounds": 1, "instructions": False, "runs": [wanted]}))


@pytest.mark.parametrize("missing", [{"folios": 1, "refused": 0}, {"folios": 0, "refused": 1}])
def test_a_run_whose_folios_did_not_come_is_done_again(monkeypatch, missing):
    whole = {"folios": 0, "refused": 0}
    [row] = in_the_guest(monkeypatch, Came(missing, missing, whole))
    assert row == {"run": 0, "round": 0, "counters": 3}
    with pytest.raises(RuntimeError, match="3 times folios of order 4 did not come"):
        in_the_guest(monkeypatch, Came(missing, missing, missing))


def test_single_pages_always_come(monkeypatch):
    [row] = in_the_guest(monkeypatch, Came({}))
    assert row["counters"] == 1
