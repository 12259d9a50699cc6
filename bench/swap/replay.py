"""The allocator alone on swap/mixed: its calls are logged, and played again without the load.

    python -m bench.swap.replay VARIANT MIB [CONTROL ACKNOWLEDGE]

prints a JSON object: allocations, and nanoseconds an allocation with its free. The load's own
tables (calendar, lifetimes, blocks) are as large as the device, and what they cost is no cost of
the allocator's; the log is read from front to back. With the two pipes of `perf stat --control`,
perf counts while the log is played.
"""

import json
import sys
from pathlib import Path
from time import process_time

import numpy as np

from lorelab.errors import RunFailed
from lorelab.numerics import ONE, ZERO, U, outline
from lorelab.params import parse
from lorelab.swap.experiments import mixed
from lorelab.swap.model import swap_slots
from lorelab.swap.params import Mixed
from lorelab.swap.workload import load as tasks

FOLIOS = 1_000_000
"""Swapped out while the log is written."""
CALLS = 16
"""Room in the log, a folio in the mean: each page of one that is split is a call, and its free."""


@outline
def _log(si, load, folios, log):
    # `tasks.run`, with each call of the allocator written down before or after it is made. How many
    # there were is more than there is room for where the log is too short.
    n = 0
    for _ in range(folios):
        totals = load.totals[0]
        totals.now += ONE
        if totals.now % totals.width == ZERO:
            entry = U(load.calendar[totals.now // totals.width % U(len(load.calendar))])
            while entry:
                random = tasks._random(load, entry, tasks.CPU)
                cpu = load.cpu[tasks._below(random, U(len(load.cpu)))]
                if n < len(log):
                    log[n] = ~np.int64(entry & U(15) | cpu << U(4) | entry >> U(4) << U(14))
                entry = U(load.following[entry >> U(4)])
                n += 1
        tasks._swap_in(si, load)
        folio, failed = totals.folios, load.fallback[1:].sum()
        tasks._swap_out(si, load, False)
        cpu = load.cpu[tasks._below(tasks._random(load, folio, tasks.TASK), U(len(load.cpu)))]
        word = tasks._random(load, folio, tasks.ORDER) >> U(32)
        order = ZERO
        while word >= load.odds[order]:
            order += ONE
        if n < len(log):
            log[n] = np.int64(order | cpu << U(4))
        n += 1
        if load.fallback[1:].sum() != failed:  # split
            for _ in range(ONE << order):
                if n < len(log):
                    log[n] = np.int64(cpu << U(4))
                n += 1
    return n


@outline
def _play(si, log):
    for call in log:
        if call >= 0:
            swap_slots.folio_alloc_swap(si, U(call >> 4), U(call & 15))
            continue
        made = U(~call)
        order, cpu, offset = made & U(15), made >> U(4) & U(1023), made >> U(14)
        if order:
            swap_slots.free_swap_and_cache_nr(si, cpu, offset, ONE << order)
        else:
            swap_slots.free_swap_slot(si, cpu, offset)


def _aged(params: Mixed):
    si, load = tasks.start(params)
    filling, turnover = mixed.windows(params)
    tasks.run(si, load, U(filling), True)
    tasks.run(si, load, U(turnover), False)
    return si, load, min(turnover, FOLIOS)


def _tell(control: list[str], word: str) -> None:
    if control:
        Path(control[0]).write_text(f"{word}\n")
        with Path(control[1]).open() as acknowledged:
            acknowledged.readline()


def measured(variant: str, device_mib: int, control: list[str]) -> dict[str, float]:
    """Age a device by one turnover, twice: log what follows, then play it; again with other seeds.

    Small devices take as many seeds as make up `FOLIOS`, so that all are measured at one age.
    """
    given = {"variant": variant, "device_mib": device_mib, "steps": 1, "turnovers": 1}
    room = np.zeros(CALLS * FOLIOS, np.int64)
    folios = allocations = seed = 0
    seconds = 0.0
    while folios < FOLIOS:
        params = parse(Mixed, given | {"seed": seed})
        si, load, timed = _aged(params)
        calls = _log(si, load, U(timed), room)
        if calls > len(room):
            raise RunFailed(f"{timed} folios make {calls} calls; the log has room for {len(room)}")
        log = room[:calls]
        expected = si.scanned.copy()
        del si, load
        si, load, _ = _aged(params)
        _play(si, log[:0])  # compiles
        _tell(control, "enable")
        start = process_time()
        _play(si, log)
        seconds += process_time() - start
        _tell(control, "disable")
        if not np.array_equal(si.scanned, expected):
            raise RunFailed("the log, played again, reads other slots than the load did")
        folios += timed
        allocations += int((log >= 0).sum())
        seed += 1
    return {"allocations": allocations, "ns": seconds / allocations * 1e9}


if __name__ == "__main__":
    json.dump(measured(sys.argv[1], int(sys.argv[2]), sys.argv[3:]), sys.stdout)
