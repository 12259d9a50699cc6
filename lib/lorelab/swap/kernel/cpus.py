"""`swap/cpus` on a real kernel: the allocator's test, and the scheduler that moves it."""

from typing import Any

import pandas as pd

from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.swap.kernel import allocator_test, boot, paths
from lorelab.swap.params import AllocatorTest, Cpus
from lorelab.swap.workload.cpus import NAME, REPEATS, in_steps, totals, without_moves


def _check(params: Cpus, options: RunOptions) -> None:
    allocator_test.check(without_moves(params), options)


def _request(batch: list[Cpus]) -> Request:
    [params] = batch
    test = without_moves(params)
    runs = [boot.Run(test, paths.counted(test))]
    return boot.zram(boot.Runs(runs, turns=REPEATS, scheduled=True))


def _counters(params: Cpus, measured: Measured, run: int) -> pd.DataFrame:
    """One step a repeat (see `lorelab.swap.experiments.cpus.simulate`).

    `migrations` are those of the process from its start, so that its exec may be one.
    """
    turns = (boot.rows_of(measured, run, turn) for turn in range(REPEATS))
    return in_steps("kernel", [_repeat(without_moves(params), rows) for rows in turns])


def _repeat(test: AllocatorTest, rows: list[dict[str, Any]]) -> dict[str, tuple[str, list[int]]]:
    [migrations] = (row["migrations"] for row in rows if "migrations" in row)
    counted = paths.totals(test, rows).set_index("counter")
    columns = {name: (row["unit"], [row["value"]]) for name, row in counted.iterrows()}
    iterations = [row for row in rows if "iteration" in row]
    whole, split = (sum(row[name] for row in iterations) for name in ("swpout", "swpout_fallback"))
    return totals(whole, split, migrations, columns)


measure = Measurement(NAME, _request, _counters, check=_check)
