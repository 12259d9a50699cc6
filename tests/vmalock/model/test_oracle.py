"""The model against the same protocol written as SimPy processes, event for event."""

import numpy as np
import pytest

from lorelab.vmalock.model.operation import PCS
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import EITHER, PROGRAM, machine
from lorelab.vmalock.params import Variant

pytest.importorskip("simpy")
from tests.vmalock.model.oracle import World

COSTS = {
    "local": 5,
    "remote": 61,
    "walk": 151,
    "checks": 11,
    "copy": 41,
    "anon_vma": 307,
    "mark": 17,
    "wake": 401,
    "start": 1499,
    "switch": 801,
    "slice": 10**12,
    "handoff": 4_000_000,
}


def both(variant, threads, vmas, share, seed, handoff, stop=300_000):
    costs = COSTS | {"handoff": handoff}
    chance = int(share * 2**32)
    program = np.zeros(threads, PROGRAM)
    for t in range(threads):
        row = {"kind": int(EITHER), "vma": t % vmas, "marks": 1, "body": 1009, "hold": 2003}
        for name, value in (row | {"think": 307, "share": chance, "spread": 1}).items():
            program[t][name] = value
    spans = np.array([(t, t + 1, 2**60, 0) for t in range(threads)], np.uint64)
    made = machine(costs, variant, threads, vmas, program, spans, stop, seed, traced=10**6)
    assert run(made)
    traced = made.trace[: int(made.one["events"][0])].tolist()
    mine = [(time, thread, PCS[pc]) for time, thread, pc in traced]
    world = World(costs, threads, vmas, seed, stop, 1009, 2003, variant is Variant.V6_12)
    theirs = world.run(chance, 307)
    # two threads at the same ns come in either order
    return sorted(mine, key=when_and_who), sorted(theirs, key=when_and_who)


def when_and_who(event):
    time, thread, _ = event
    return time, thread


@pytest.mark.parametrize("handoff", [4_000_000, 3000])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("variant", [Variant.MMAP_LOCK, Variant.V6_12])
def test_every_event_is_that_of_simpy(variant, share, handoff):
    for seed in range(5):
        for threads, vmas in ((1, 1), (2, 1), (4, 4), (6, 2), (9, 1)):
            mine, theirs = both(variant, threads, vmas, share, seed, handoff)
            assert mine == theirs, (threads, vmas, seed)
            assert len(mine) > 50


@pytest.mark.parametrize("handoff", [4_000_000, 3000])
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("variant", [Variant.MMAP_LOCK, Variant.V6_12])
def test_every_event_of_a_short_run_is_that_of_simpy(variant, share, handoff):
    mine, theirs = both(variant, 6, 2, share, 1, handoff, stop=40_000)
    assert mine == theirs
    assert len(mine) > 50
