"""`swap/cpus` on a real kernel: the allocator's test, and the scheduler that moves it."""

from pathlib import Path

import numpy as np
import pandas as pd

from lorelab import agreement
from lorelab.lab.records import Record
from lorelab.swap import kernel
from lorelab.swap.cpus import NAME, REPEATS, in_steps, totals, without_moves
from lorelab.swap.cpus import cpus as simulate
from lorelab.swap.params import Cpus


def cpus(wanted: list[Cpus], image: Path | None = None) -> list[Record]:
    """Run the kernel's thp_swap_allocator_test time and again on several CPUs; a boot for each.

    Parameters
    ----------
    wanted : list of Cpus
    image : Path, optional
        bzImage of the reader's own.

    Returns
    -------
    list of Record
        As asked: one step a repeat (see `lorelab.swap.cpus.cpus`). `migrations` are those of the
        process from its start, so that its exec may be one.

    Raises
    ------
    BadInput
        The guest can't follow a parameter, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        kernel.check(without_moves(params), own=image is not None)
    return [_cpus(params, image) for params in wanted]


def _cpus(params: Cpus, image: Path | None) -> Record:
    test = without_moves(params)
    turned = [kernel.counted(test)]
    measured = kernel.boot([test], turned, False, image, turns=REPEATS, scheduled=True)
    repeats = []
    for turn in range(REPEATS):
        rows = [row for row in measured.rows if row["turn"] == turn]
        [migrations] = (row["migrations"] for row in rows if "migrations" in row)
        paths = kernel.totals(test, rows).set_index("counter")
        found = {name: (row["unit"], [row["value"]]) for name, row in paths.iterrows()}
        iterations = [(r["swpout"], r["swpout_fallback"]) for r in rows if "iteration" in r]
        repeats.append(totals(np.array(iterations), migrations, found))
    counters = in_steps("kernel", repeats)
    return Record(counters, measured.provenance(NAME, params.model_dump(mode="json")))


def weigh(params: Cpus, measured: Record) -> pd.DataFrame:
    """Hold a kernel's repeats against as many of the model's, which move as often as they did.

    How often is between scheduler and host: 2 moves in a repeat on a busy host, fewer than 1 on an
    idle one.

    Returns
    -------
    DataFrame
        As `lorelab.agreement.intervals`.
    """
    counted = measured.counters
    moves = counted.loc[counted["counter"] == "migrations", "value"].mean()
    return agreement.intervals(
        simulate(params.model_copy(update={"moves": float(moves)})), counted, "folios"
    )
