"""`swap/cpus` on a real kernel: the allocator's test, and the scheduler that moves it."""

from typing import Any

from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.swap.experiments.cpus import NAME, REPEATS, in_steps, totals, without_moves
from lorelab.swap.kernel import allocator_test, boot, paths
from lorelab.swap.params import AllocatorTest, Cpus


def measure(wanted: list[Cpus], lab: Lab) -> list[Record]:
    """Run the kernel's thp_swap_allocator_test time and again on several CPUs; a boot for each.

    Returns
    -------
    list of Record
        As asked: one step a repeat (see `lorelab.swap.experiments.cpus.simulate`). `migrations`
        are those of the process from its start, so that its exec may be one.

    Raises
    ------
    BadInput
        The guest can't follow a parameter, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        allocator_test.check(without_moves(params), lab)
    return [_measure(params, lab) for params in wanted]


def _measure(params: Cpus, lab: Lab) -> Record:
    test = without_moves(params)
    runs = [boot.Run(test, paths.counted(test))]
    measured = boot.zram(boot.Runs(runs, turns=REPEATS, scheduled=True), lab)
    turns = (boot.rows_of(measured, 0, turn) for turn in range(REPEATS))
    counters = in_steps("kernel", [_repeat(test, rows) for rows in turns])
    return measured.record(NAME, params, counters)


def _repeat(test: AllocatorTest, rows: list[dict[str, Any]]) -> dict[str, tuple[str, list[int]]]:
    [migrations] = (row["migrations"] for row in rows if "migrations" in row)
    counted = paths.totals(test, rows).set_index("counter")
    found = {name: (row["unit"], [row["value"]]) for name, row in counted.iterrows()}
    iterations = [row for row in rows if "iteration" in row]
    whole, split = (sum(row[name] for row in iterations) for name in ("swpout", "swpout_fallback"))
    return totals(whole, split, migrations, found)
