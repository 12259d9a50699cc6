"""The model against the same protocol written as SimPy processes, event for event."""

import random

import numpy as np
import pytest

from lorelab.params import label
from lorelab.vmalock.model.operation import PCS
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import (
    COUNT,
    COUNTERS,
    EITHER,
    FAULT,
    PROGRAM,
    SPAWN,
    WRITE,
    machine,
)
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
KINDS = {"fault": FAULT, "write": WRITE, "either": EITHER, "spawn": SPAWN}
NOTHING = dict.fromkeys(PROGRAM.names, 0) | {"spread": 1}
MIXED = {"kind": "either", "marks": 1, "body": 1009, "hold": 2003, "think": 307}
FOREVER, LATER = 10**9, 2**63


def both(variant, cpus, vmas, programs, seed=1, stop=300_000, **costs):
    """Events and counters of the same run, from the model and from SimPy.

    A program is a list of operations by field, how often it is gone through, and when its thread
    begins, which is None if another one starts it.
    """
    costs = COSTS | costs
    programs = [
        ([NOTHING | operation for operation in operations], rounds, start)
        for operations, rounds, start in programs
    ]
    rows = [operation for operations, _, _ in programs for operation in operations]
    laid = np.zeros(len(rows), PROGRAM)
    for n, row in enumerate(rows):
        for name, value in (row | {"kind": int(KINDS[row["kind"]])}).items():
            laid[n][name] = value
    ends = np.cumsum([len(operations) for operations, _, _ in programs])
    spans = [
        (int(end) - len(operations), int(end), rounds, LATER if start is None else start)
        for end, (operations, rounds, start) in zip(ends, programs, strict=True)
    ]
    made = machine(
        costs, variant, cpus, vmas, laid, np.array(spans, np.uint64), stop, seed, traced=10**5
    )
    assert run(made)
    traced = made.trace[: int(made.globals["events"][0])].tolist()
    mine = [(time, thread, PCS[pc]) for time, thread, pc in traced]
    world = World(costs, label(variant), cpus, vmas, programs, seed, stop)
    theirs = world.run()
    world.count["started"] = world.count["faults"] + world.count["writes"]
    # two threads at the same ns come in either order
    return (
        (sorted(mine, key=when_and_who), {name: int(made.count[COUNT[name]]) for name in COUNTERS}),
        (sorted(theirs, key=when_and_who), {name: world.count[name] for name in COUNTERS}),
    )


def when_and_who(event):
    time, thread, _ = event
    return time, thread


def mixed(threads, vmas, share, **fields):
    """As many threads, each of which does one operation over and over."""
    operation = MIXED | {"share": int(share * 2**32)} | fields
    return [([operation | {"vma": t % vmas}], FOREVER, 0) for t in range(threads)]


@pytest.mark.parametrize("handoff", [4_000_000, 3000])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("variant", Variant)
def test_every_event_is_that_of_simpy(variant, share, handoff):
    for threads, vmas, seed in ((1, 1, 1), (2, 1, 2), (4, 4, 3), (6, 2, 4), (9, 1, 5)):
        programs = mixed(threads, vmas, share)
        mine, theirs = both(variant, threads, vmas, programs, seed, handoff=handoff)
        assert mine == theirs, (threads, vmas, seed)
        assert len(mine[0]) > 50


REGIMES = {
    "as many CPUs": (6, mixed(6, 2, 0.3)),
    "fewer CPUs": (2, mixed(6, 2, 0.3)),
    "one CPU": (1, mixed(3, 2, 0.3)),
    "more CPUs": (9, mixed(4, 3, 0.3)),
    "all marked": (4, mixed(5, 3, 0.4, marks=3, think=500)),
    "around the end": (4, mixed(5, 3, 0.4, marks=2, think=500)),
    "none marked": (3, mixed(4, 2, 0.4, marks=0)),
    "downgrades": (3, mixed(5, 2, 0.4, tail=1511)),
    "new areas": (3, mixed(5, 2, 0.3, fresh=1, marks=2)),
    "drawn from all": (4, [([MIXED | {"share": 2**30, "spread": 3}], FOREVER, 0)] * 5),
    "one after another": (
        2,
        [
            (
                [
                    {"kind": "write", "vma": 0, "marks": 2, "hold": 903, "fresh": 1, "think": 211},
                    {"kind": "spawn", "vma": 1, "body": 3001},
                    {"kind": "spawn", "vma": 2, "body": 2003},
                ],
                1,
                700,
            ),
            ([{"kind": "fault", "vma": 1, "body": 1009, "think": 101}], 9, None),
            (
                [
                    {"kind": "fault", "vma": 0, "body": 503, "think": 309},
                    {"kind": "write", "vma": 1, "marks": 1, "hold": 707, "tail": 307, "think": 3},
                ],
                5,
                None,
            ),
        ],
    ),
}
"""CPUs, and what runs on them."""


@pytest.mark.parametrize("timing", [{}, {"slice": 9001, "handoff": 5003}], ids=["long", "short"])
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("variant", Variant)
def test_so_it_is_in_every_regime(variant, regime, timing):
    """More threads than CPUs, slices that end, areas that are new, and what a writer does."""
    cpus, programs = REGIMES[regime]
    mine, theirs = both(variant, cpus, 3, programs, 7, 40_000, **timing)
    assert mine == theirs
    assert len(mine[0]) > 20


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("variant", Variant)
def test_so_it_is_of_machines_drawn_at_random(variant, seed):
    drawn = random.Random(seed)
    vmas = drawn.randint(1, 4)
    programs = [
        (
            [
                MIXED
                | {
                    "vma": drawn.randrange(vmas),
                    "marks": drawn.randint(0, vmas),
                    "body": drawn.randint(0, 4000),
                    "hold": drawn.randint(0, 4000),
                    "tail": drawn.choice([0, 0, 1, 1511]),
                    # One of no time ends with the word of it to who spins, in the same ns.
                    "think": drawn.choice([19, 800]),
                    "fresh": drawn.randint(0, 1),
                    "share": drawn.choice([0, 2**29, 2**31, 2**32]),
                }
                for _ in range(drawn.randint(1, 3))
            ],
            drawn.choice([1, 4, FOREVER]),
            drawn.choice([0, 0, 1003]),
        )
        for _ in range(drawn.randint(2, 9))
    ]
    costs = {"slice": drawn.choice([9001, 20_011, 10**9]), "handoff": drawn.choice([3001, 10**7])}
    mine, theirs = both(variant, drawn.randint(1, 7), vmas, programs, seed, 40_000, **costs)
    assert mine == theirs


@pytest.mark.parametrize("timing", [{}, {"slice": 9001, "handoff": 5003}], ids=["long", "short"])
@pytest.mark.parametrize(("threads", "cpus"), [(12, 12), (16, 3), (24, 24), (40, 8)])
@pytest.mark.parametrize("variant", Variant)
def test_so_it_is_of_more_than_nine_threads(variant, threads, cpus, timing):
    """Queues that grow: who spins behind whom, and who is switched to, among up to 40."""
    programs = mixed(threads, 3, 0.3, marks=2)
    mine, theirs = both(variant, cpus, 3, programs, threads, 60_000, **timing)
    assert mine == theirs
    assert len({thread for _, thread, _ in mine[0]}) == threads


@pytest.mark.parametrize("variant", [Variant.MMAP_LOCK, Variant.RANGE], ids=lambda v: v.name)
def test_a_batch_of_more_readers_than_are_woken_at_once_is_that_of_simpy(variant):
    """300 readers queue behind a writer that holds on; 256 are woken, and then the rest."""
    writer = {"kind": "write", "marks": 1, "hold": 60_000, "think": 10_007}
    reader = {"kind": "fault", "body": 1009, "think": 10_009}
    programs = [([writer], 2, 0), *([([reader], 2, 501)] * 300)]
    mine, theirs = both(variant, 301, 1, programs, 3, 400_000)
    assert mine == theirs
    assert mine[1]["reader_waits"] > 256


@pytest.mark.parametrize("readers", [12, 24, 40])
@pytest.mark.parametrize(
    "variant", [Variant.MMAP_LOCK, Variant.VMA_RWSEM, Variant.V6_12], ids=lambda v: v.name
)
def test_a_writer_spins_behind_many_readers_for_as_long_as_in_simpy(variant, readers):
    """10 us and half a us for each of up to 30, and these hold on for longer."""
    writer = {"kind": "write", "marks": 1, "hold": 2003, "think": 1009}
    reader = {"kind": "fault", "body": 60_013, "think": 10_009}
    programs = [*([([reader], 2, 0)] * readers), ([writer], 2, 9001)]
    mine, theirs = both(variant, readers + 1, 1, programs, 5, 400_000)
    assert mine == theirs
    assert mine[1]["sleep_writer"] + mine[1]["vma_sleep"] > 0
