"""`swap/cpus`: the allocator's test on several CPUs, moved between them by the scheduler.

The test is one task. More CPUs change what it does in three ways: the slot caches are used only
with 5 x 64 free slots a CPU, and no longer below 2 x 64; each CPU has a current cluster of each
order and slot caches of its own, which stay behind when the task moves; and so do up to 30 pages
that MADV_PAGEOUT does not find (`lorelab.swap.task`). When it moves is the scheduler's choice.
Here it is drawn, and the repeats of a run differ by that alone.
"""

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.params import label
from lorelab.swap.params import AllocatorTest, Cpus, Variant
from lorelab.swap.task import EVENTS, MOVED, start
from lorelab.swap.workload import path_totals, run

NAME = "swap/cpus"

REPEATS = 6
"""Of model and kernel: six span the median with 97 % (`lorelab.agreement.intervals`)."""


def without_moves(params: Cpus) -> AllocatorTest:
    """One repeat, without its moves."""
    return AllocatorTest(large_swapin=False, **params.model_dump(exclude={"moves"}))


def moves(params: Cpus, repeat: int, events: int) -> np.ndarray:
    """Draw when the task moves, and to which of the other CPUs.

    Parameters
    ----------
    repeat : int
        Number of the repeat, each of which has moves of its own.
    events : int
        Swap-ins, drops and swap-outs of a repeat. Before each of them the task moves with the same
        chance.

    Returns
    -------
    (n, 2) uint64 array
        As `Task.moves` of `lorelab.swap.task`.
    """
    chance = np.random.default_rng([params.seed, params.cpus, repeat])
    when = np.flatnonzero(chance.random(events) < params.moves / events)
    further = chance.integers(1, params.cpus, len(when))
    return np.column_stack([when, np.cumsum(further) % params.cpus]).astype(np.uint64)


def totals(
    iterations: np.ndarray, migrations: int, paths: dict[str, tuple[str, list[int]]]
) -> dict[str, tuple[str, list[int]]]:
    """Counters of one repeat.

    Parameters
    ----------
    iterations : (n, 2) array
        Folios that went out whole, and that fell back.
    migrations : int
    paths : dict
        Counters of `swap/paths`.

    Returns
    -------
    dict
        Unit and value of each counter, as `lorelab.counters.table` takes them.
    """
    whole, split = iterations.sum(axis=0).tolist()
    return {
        "folios": ("folios", [whole + split]),
        "swpout": ("folios", [whole]),
        "swpout_fallback": ("folios", [split]),
        "migrations": ("moves", [migrations]),
        **paths,
    }


def in_steps(source: str, repeats: list[dict[str, tuple[str, list[int]]]]) -> pd.DataFrame:
    """Lay out `totals` of all repeats, one step each."""
    counted = {
        name: (unit, [value for repeat in repeats for value in repeat[name][1]])
        for name, (unit, _) in repeats[0].items()
    }
    return table(NAME, label(Variant.V6_12), source, counted)


def cpus(params: Cpus) -> pd.DataFrame:
    """Simulate `swap/cpus`.

    Returns
    -------
    DataFrame
        One step a repeat: `folios` of 64 KiB to swap out in all iterations, `swpout` and
        `swpout_fallback` of them, `migrations` of the task, and the counters of `swap/paths`.
    """
    stays = start(params.cpus)
    run(without_moves(params), NAME, stays)
    events = int(stays.place[EVENTS])
    found = []
    for repeat in range(REPEATS):
        task = start(params.cpus, moves=moves(params, repeat, events))
        si, iterations, _ = run(without_moves(params), NAME, task)
        found.append(totals(iterations, int(task.place[MOVED]), path_totals(si)))
    return in_steps("model", found)
