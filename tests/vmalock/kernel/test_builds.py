"""Kernels with the lock elsewhere, or without it: which one a run takes, what they are like."""

from pathlib import Path

import pytest

from lorelab.errors import BadInput
from lorelab.lab import build
from lorelab.lab.run import Lab
from lorelab.vmalock.experiments import views
from lorelab.vmalock.kernel import instructions
from lorelab.vmalock.kernel.boot import BUILDS, of_lock
from lorelab.vmalock.params import Instructions

POINTER = 8
"""Bytes of what the lock inside replaces."""


@pytest.mark.parametrize("lock", BUILDS)
def test_a_kernel_that_is_not_built_is_named(monkeypatch, lock):
    monkeypatch.setattr(build, "find", lambda _: None)
    with pytest.raises(BadInput, match=f"lorelab lab build vmalock --config {lock}"):
        of_lock(lock, Lab())


@pytest.mark.parametrize("lock", ["on", "off"])
def test_one_kernel_has_the_lock_that_is_tried_and_that_is_not(lock):
    assert of_lock(lock, Lab()) == Lab()


@pytest.mark.parametrize("lock", BUILDS)
def test_a_kernel_of_the_readers_own_stays(lock):
    own = Lab(image=Path("bzImage"))
    assert of_lock(lock, own) == own


def test_runs_of_one_kernel_share_a_boot(monkeypatch):
    monkeypatch.setattr(instructions, "of_lock", lambda lock, _: lock)
    monkeypatch.setattr(instructions, "_measure", lambda runs, lab: [(lab, p.lock) for p in runs])
    asked = [Instructions(lock=lock) for lock in ("off", "inside", "on", "unbuilt", "inside")]
    boots = instructions.measure(asked, Lab())
    assert [lock for _, lock in boots] == [params.lock for params in asked]
    assert boots[0][0] == boots[2][0] and boots[1][0] == boots[4][0] == "inside"
    assert boots[3][0] == "unbuilt"


def test_what_is_recorded_of_the_sizes_adds_up():
    """A lock inside the VMA is its own size more than the pointer to it."""
    sizes = views.sizes()
    lock = sizes.loc["its lock"]
    assert lock["on"] > 0 == lock["inside"]
    struct = sizes.loc["struct"]
    assert struct["inside"] == struct["on"] - POINTER + lock["on"]
