"""The search through the protocol against spin, on the same models of 6.12."""

import time

from rich.progress import track
from rich.table import Table

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
    """Million states a second on one core, the better of interleaved runs; bytes a state."""
    table = Table(title="6.12: every state of the protocol, million states / s")
    for head in ("threads", "states", "numba", "spin", "times", "bytes a state", "spin's state"):
        table.add_column(head, justify="right")
    for faults, writers, unmap in track(RUNS, "searching", transient=True):
        chosen = Configuration(
            (("fault", 0),) * faults + (("flags", 0),) * writers + (("unmap", 0),) * unmap
        )
        told = configurations.setting(Variant.V6_12, chosen, 3)
        begun = configurations.first(Variant.V6_12, chosen, 3)
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
        rates = [len(found.states) / max(min(times), 0.01) / 1e6 for times in (ours, theirs)]
        table.add_row(
            f"{faults} faults, {writers} flags, {int(unmap)} unmap",
            f"{len(found.states):,}",
            f"{rates[0]:.2f}",
            f"{rates[1]:.2f}",
            f"{rates[0] / rates[1]:.1f}",
            str(room(state.WORDS, 1)),
            str(said.bytes),
        )
    return table
