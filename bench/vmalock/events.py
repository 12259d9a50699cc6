"""Events a second of the performance model: of any size, against C, plain Python and SimPy."""

import ctypes
import json
import sys
import time

import numpy as np
from rich.table import Table

from bench.compare import apart
from bench.compiled import load
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import BUCKETS, COUNT, EITHER, PROGRAM, Machine, machine
from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.costs import body, costs

REPEATS = 3
BAR_EVENTS = 10_000_000
"""Events a second on one core."""
BAR_SIMPY = 200
"""Times as fast as SimPy, in the small scenario: `SMALL` threads."""
SMALL = 2
SETTINGS = {
    "8 CPUs, a VMA each": Contention(ms=100),
    "8 CPUs, mmap_lock": Contention(variant=Variant.MMAP_LOCK, ms=100),
    "64 CPUs, nobody writes": Contention(cpus=64, threads=64, vmas=64, writer_share=0, ms=20),
    "512 CPUs, 1,000 threads": Contention(cpus=512, threads=1000, vmas=1000, ms=50),
}
BAR_C = 0.5
"""Speed of the model against the same events in C."""
LARGEST, LARGEST_EVENTS = SETTINGS["512 CPUs, 1,000 threads"], 10**8
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
        table.add_row(name, label(params.variant), f"{events:,}", f"{best / 1e6:.1f}")
    return table


def simpy() -> Table:
    """The same events, as processes of SimPy (tests/vmalock/model/oracle.py)."""
    from tests.vmalock.model.oracle import World

    table = Table(
        title=f"The model and SimPy (bar: {BAR_SIMPY} times as fast with {SMALL} threads)"
    )
    for column in ("threads", "events", "model, us", "SimPy, us", "times"):
        table.add_column(column, justify="right")
    for threads in (SMALL, 6, 16):
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


def yardstick() -> Table:
    """The same faults in C at -O3 (faults.c) and in plain Python, where nobody writes."""
    table = Table(title=f"The model, C and plain Python (bar: {BAR_C} of C)")
    for column in ("CPUs", "events", "C, ns", "model, ns", "of C", "Python, ns"):
        table.add_column(column, justify="right")
    for cpus in (8, 64):
        params = Contention(cpus=cpus, threads=cpus, vmas=cpus, writer_share=0, ms=20)
        timed = [_timed(programs.contention(params)) for _ in range(REPEATS)]
        events, mine = timed[0][0], min(seconds for _, seconds in timed)
        theirs = min(_in_c(params) for _ in range(REPEATS))
        plain = apart("bench.vmalock.events", str(cpus), under=("env", "NUMBA_DISABLE_JIT=1"))
        each = (theirs / events, mine / events, plain["seconds"] / plain["events"])
        c, model, python = (1e9 * seconds for seconds in each)
        shown = (f"{c:.1f}", f"{model:.1f}", f"{c / model:.2f}", f"{python:,.0f}")
        table.add_row(str(cpus), f"{events:,}", *shown)
    return table


def _in_c(params: Contention) -> float:
    """Seconds of faults.c, once it has counted what the model counts."""
    made = programs.contention(params)
    run(made)
    given = costs(params)
    names = ("local", "remote", "walk", "checks")
    words = [*(given[name] for name in names), body(params), params.think_ns, params.ms * 10**6]
    told = np.array([*words, params.seed], np.uint64)
    found, latency = np.zeros(6, np.uint64), np.zeros(BUCKETS, np.uint64)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (told, found, latency)]
    library = load("vmalock/faults.c")
    begun = time.process_time()
    library.faults(ctypes.c_uint64(params.threads), *pointers)
    seconds = time.process_time() - begun
    counted = ("faults", "fault_time", "last", "remote", "think_time")
    mine = [int(made.globals["events"][0]), *(int(made.count[COUNT[name]]) for name in counted)]
    if mine != found.tolist() or not np.array_equal(latency, made.fault_latency):
        raise RunFailed(f"C counts {found.tolist()} and the model {mine}")
    return seconds


def largest() -> Table:
    """512 CPUs, 1,000 threads, 10**8 events: memory and seconds."""
    made = programs.contention(LARGEST.model_copy(update={"ms": 100_000}))
    made.globals["limit"] = LARGEST_EVENTS
    begun = time.process_time()
    run(made)
    seconds = time.process_time() - begun
    table = Table(title="The largest machine (bar: a minute)")
    for column in ("CPUs", "threads", "events", "seconds", "MiB"):
        table.add_column(column, justify="right")
    room = sum(array.nbytes for array in made) / 2**20
    events = int(made.globals["events"][0])
    table.add_row(
        str(LARGEST.cpus), str(LARGEST.threads), f"{events:,}", f"{seconds:.0f}", f"{room:.0f}"
    )
    return table


def _timed(made: Machine) -> tuple[int, float]:
    begun = time.process_time()
    if not run(made):
        raise RunFailed("threads of the model are left that nothing wakes")
    return int(made.globals["events"][0]), time.process_time() - begun


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


if __name__ == "__main__":
    # For `yardstick`, without a compiler. Compiled code reads the fields of a row as attributes.
    number = int(sys.argv[1])
    small = Contention(cpus=number, threads=number, vmas=number, writer_share=0, ms=1)
    arrays = programs.contention(small)
    made = Machine(*(each.view(np.recarray) if each.dtype.names else each for each in arrays))
    events, seconds = _timed(made)
    print(json.dumps({"events": events, "seconds": seconds}))
