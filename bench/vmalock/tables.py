"""The search through the protocol against spin, on the same models of 6.12."""

import json
import sys
import time
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from bench.compare import apart
from bench.vmalock import spin
from lorelab.checker import explore, room
from lorelab.errors import RunFailed
from lorelab.vmalock.model.protocol import configurations, state
from lorelab.vmalock.model.protocol.configurations import MODEL, Configuration
from lorelab.vmalock.params import Variant

RUNS = ((2, 0, True), (3, 0, True), (3, 1, True), (4, 0, True))
"""Faults, writers and whether one thread unmaps."""
REPEATS = 3


def speed() -> Table:
    """Million states a second on one core, the better of interleaved runs; bytes a state.

    `peak, MiB` is what a process that has searched once before grows by, as /proc tells it.
    """
    table = Table(title="6.12: every state of the protocol, million states / s")
    heads = ("threads", "states", "numba", "spin", "times")
    for head in (*heads, "bytes a state", "peak, MiB", "spin's state"):
        table.add_column(head, justify="right")
    for faults, writers, unmap in track(RUNS, "searching", transient=True):
        begun, told = _given(faults, writers, unmap)
        ours, theirs = [], []
        for _ in range(REPEATS):
            started = time.process_time()
            found = explore(MODEL, begun, told)
            ours.append(time.process_time() - started)
            said = spin.check(Variant.V6_12, faults, writers, unmap, slots=24, optimise="-O3")
            theirs.append(said.seconds)
        if said.states != len(found.states) + 1 or found.broken or said.errors:
            raise RunFailed(
                f"spin goes through {said.states} states, the search {len(found.states)}"
            )
        peak = apart("bench.vmalock.tables", str(faults), str(writers), str(int(unmap)))
        rates = [len(found.states) / max(min(times), 0.01) / 1e6 for times in (ours, theirs)]
        table.add_row(
            f"{faults} faults, {writers} flags, {int(unmap)} unmap",
            f"{len(found.states):,}",
            f"{rates[0]:.2f}",
            f"{rates[1]:.2f}",
            f"{rates[0] / rates[1]:.1f}",
            str(room(state.WORDS, 1)),
            f"{peak['peak']:.0f}",
            str(said.bytes),
        )
    return table


def _given(faults: int, writers: int, unmap: int) -> tuple[np.ndarray, np.ndarray]:
    """The first state, and what the search is told."""
    chosen = Configuration(
        (("fault", 0),) * faults + (("flags", 0),) * writers + (("unmap", 0),) * unmap
    )
    told = configurations.setting(Variant.V6_12, chosen, 3)
    return configurations.first(Variant.V6_12, chosen, 3), told


def _most() -> int:
    """KiB that this process has had in memory at most."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    # For `speed`. The first search compiles, and fills what every process has.
    explore(MODEL, *_given(1, 0, True))
    before = _most()
    explore(MODEL, *_given(*map(int, sys.argv[1:])))
    print(json.dumps({"peak": (_most() - before) / 1024}))
