"""`swap/cpus`: the allocator's test on several CPUs, moved between them by the scheduler.

The test is one task. More CPUs change what it does in three ways: the slot caches are used only
with 5 x 64 free slots a CPU, and no longer below 2 x 64; each CPU has a current cluster of each
order and slot caches of its own, which stay behind when the task moves; and so do up to 30 pages
that MADV_PAGEOUT does not find (`lorelab.swap.workload.task`). When it moves is the scheduler's
choice. Here it is drawn, and the repeats of a run differ by that alone.
"""

import numpy as np
import pandas as pd

from lorelab.swap.experiments import paths
from lorelab.swap.params import Cpus
from lorelab.swap.workload.allocator_test import run
from lorelab.swap.workload.cpus import NAME, REPEATS, in_steps, totals, without_moves
from lorelab.swap.workload.task import start


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
        As `Task.moves` of `lorelab.swap.workload.task`.
    """
    chance = np.random.default_rng([params.seed, params.cpus, repeat])
    when = np.flatnonzero(chance.random(events) < params.moves / events)
    further = chance.integers(1, params.cpus, len(when))
    return np.column_stack([when, np.cumsum(further) % params.cpus]).astype(np.uint64)


def simulate(params: Cpus) -> pd.DataFrame:
    """Run the repeats on the model.

    Returns
    -------
    DataFrame
        One step a repeat: `folios` of 64 KiB to swap out in all iterations, `swpout` and
        `swpout_fallback` of them, `migrations` of the task, and the counters of `swap/paths`.
    """
    stays = start(params.cpus)
    run(without_moves(params), NAME, stays)
    events = int(stays.place["events"][0])
    rows = []
    for repeat in range(REPEATS):
        task = start(params.cpus, moves=moves(params, repeat, events))
        ran = run(without_moves(params), NAME, task)
        whole, split = (int(ran.iterations[name].sum()) for name in ran.iterations.dtype.names)
        rows.append(totals(whole, split, int(task.place["moved"][0]), paths.totals(ran.si)))
    return in_steps("model", rows)
