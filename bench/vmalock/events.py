"""Events a second of the performance model, on machines of any size, and against SimPy."""

import time

import numpy as np
from rich.table import Table

from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import EITHER, PROGRAM, Machine, machine
from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.costs import costs

REPEATS = 3
BAR_EVENTS = 10_000_000
"""Events a second on one core."""
BAR_SIMPY = 200
SETTINGS = {
    "8 CPUs, a VMA each": Contention(ms=100),
    "8 CPUs, mmap_lock": Contention(policy=Variant.MMAP_LOCK, ms=100),
    "64 CPUs, nobody writes": Contention(cpus=64, threads=64, vmas=64, writer_share=0, ms=20),
    "512 CPUs, 1,000 threads": Contention(cpus=512, threads=1000, vmas=1000, ms=50),
}
BODY, HOLD, THINK, SHARE, STOP = 1009, 2003, 307, 2**27, 20_000_000


def speed() -> Table:
    """Million events a second of processor time, the best of some runs."""
    table = Table(
        title=f"Events of the performance model (bar: {BAR_EVENTS / 1e6:.0f} million / s)"
    )
    for column in ("setting", "a fault takes", "events", "million / s"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    run(programs.contention(Contention(ms=1)))  # compiles
    for name, params in SETTINGS.items():
        best = 0.0
        for _ in range(REPEATS):
            events, seconds = _timed(programs.contention(params))
            best = max(best, events / seconds)
        table.add_row(name, label(params.policy), f"{events:,}", f"{best / 1e6:.1f}")
    return table


def simpy() -> Table:
    """The same events, as processes of SimPy (tests/vmalock/model/oracle.py)."""
    from tests.vmalock.model.oracle import World

    table = Table(title=f"The model and SimPy (bar: {BAR_SIMPY} times as fast)")
    for column in ("threads", "events", "model, us", "SimPy, us", "times"):
        table.add_column(column, justify="right")
    for threads in (2, 6, 16):
        made = [_small(threads) for _ in range(REPEATS)]
        timed = [_timed(one) for one in made]
        events, seconds = timed[0][0], min(seconds for _, seconds in timed)
        world = World(_costs(), threads, threads, 1, STOP, BODY, HOLD, True)
        begun = time.process_time()
        found = len(world.run(SHARE, THINK))
        theirs = time.process_time() - begun
        if found != events:
            raise RunFailed(f"SimPy has {found} events and the model {events}")
        mine, simpys = (1e6 * each / events for each in (seconds, theirs))
        table.add_row(
            str(threads), f"{events:,}", f"{mine:.3f}", f"{simpys:.2f}", f"{simpys / mine:.0f}"
        )
    return table


def _timed(made: Machine) -> tuple[int, float]:
    begun = time.process_time()
    if not run(made):
        raise RunFailed("threads of the model are left that nothing wakes")
    return int(made.one["events"][0]), time.process_time() - begun


def _costs() -> dict[str, int]:
    return costs(Contention()) | {"slice": 10**12}


def _small(threads: int) -> Machine:
    program = np.zeros(threads, PROGRAM)
    row = {"kind": int(EITHER), "marks": 1, "body": BODY, "hold": HOLD, "think": THINK}
    for name, value in (row | {"share": SHARE, "spread": 1}).items():
        program[name] = value
    program["vma"] = np.arange(threads)
    spans = np.array([(t, t + 1, 2**60, 0) for t in range(threads)], np.uint64)
    return machine(_costs(), Variant.V6_12, threads, threads, program, spans, STOP, 1)
