"""`vmalock/launch`: how long it takes until a hundred new threads are at work."""

from itertools import product

import pandas as pd

from lorelab.vmalock.params import Launch, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done, totals

NAME = "vmalock/launch"


def simulate(params: Launch) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.launch(params)))


def by_cpus(cpus: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 100)) -> pd.DataFrame:
    """Counters of a launch with 6.12's lock and with mmap_lock alone, column `cpus`."""
    return pd.concat(
        simulate(Launch(cpus=number, variant=variant)).assign(cpus=number)
        for number in cpus
        for variant in (Variant.MMAP_LOCK, Variant.V6_12)
    )


def by_work(
    cpus: tuple[int, ...] = (2, 4, 8), think_us: tuple[int, ...] = (2, 5, 10, 20, 200)
) -> pd.DataFrame:
    """By how much the thread's series shortens a launch, over CPUs and work between two faults.

    Returns
    -------
    DataFrame
        `cpus`, `think_us`, and `shorter`: of the time under mmap_lock [%].
    """
    rows = []
    for number, work in product(cpus, think_us):
        before, after = (
            totals(done(programs.launch(given)))["last"]
            for given in (
                Launch(cpus=number, think_ns=work * 1000, variant=variant)
                for variant in (Variant.MMAP_LOCK, Variant.V2)
            )
        )
        rows.append((number, work, 100 * (1 - after / before)))
    return pd.DataFrame(rows, columns=["cpus", "think_us", "shorter"])
