"""Kernels with the lock elsewhere, or without it: which one a run takes, what they are like."""

from types import SimpleNamespace

import pytest

from lorelab.errors import BadInput
from lorelab.lab import build, run
from lorelab.vmalock.kernel import instructions
from lorelab.vmalock.kernel.boot import BUILDS, config
from lorelab.vmalock.pages import views
from lorelab.vmalock.params import Instructions

POINTER = 8
"""Bytes of what the lock inside replaces."""


@pytest.mark.parametrize("lock", BUILDS)
def test_a_kernel_that_is_not_built_is_named(monkeypatch, lock):
    monkeypatch.setattr(build, "find", lambda _: None)
    monkeypatch.setattr(run.needs, "check", lambda _: None)
    with pytest.raises(BadInput, match=f"lorelab lab build vmalock --config {lock}"):
        instructions.measure([Instructions(lock=lock)])


@pytest.mark.parametrize("lock", ["on", "off"])
def test_one_kernel_has_the_lock_that_is_tried_and_that_is_not(lock):
    assert config(lock) is None


def test_runs_of_one_kernel_share_a_boot(monkeypatch):
    boots = []

    def measure(request, options):
        boots.append((request.config, [each["switches"] for each in request.job.params["runs"]]))
        rows = [{"run": n, "ns": [1]} for n, _ in enumerate(boots[-1][1])]
        kernel = SimpleNamespace(release="6.12.117")
        return SimpleNamespace(rows=rows, source={"kernel": kernel}, record=lambda *of: of[1])

    monkeypatch.setattr(run, "measure", measure)
    asked = [Instructions(lock=lock) for lock in ("off", "inside", "on", "unbuilt", "inside")]
    assert instructions.measure(asked) == asked
    off = {"vmalock/fault_path": "mmap"}
    assert boots == [(None, [off, {}]), ("inside", [{}, {}]), ("unbuilt", [{}])]


def test_what_is_recorded_of_the_sizes_adds_up():
    """A lock inside the VMA is its own size more than the pointer to it."""
    sizes = views.sizes()
    lock = sizes.loc["its lock"]
    assert lock["on"] > 0 == lock["inside"]
    struct = sizes.loc["struct"]
    assert struct["inside"] == struct["on"] - POINTER + lock["on"]
