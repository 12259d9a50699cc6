"""`vmalock/contention`: threads that fault and, now and then, change a VMA."""

from functools import cache
from itertools import product

import pandas as pd

from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done, totals

NAME = "vmalock/contention"
CPUS = (8, 12, 16, 20, 24, 28, 32, 48, 64)
SHARING = (1, 2, 4, 8)
"""Threads that fault in one VMA."""
WRITERS = (0.0, 0.001, 0.01, 0.03)


def simulate(params: Contention) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.contention(params)))


def time_of_a_fault(params: Contention) -> float:
    """Time that a thread spends on an operation, its own work between two included [ns]."""
    found = totals(done(programs.contention(params)))
    return params.threads * found["last"] / max(found["faults"] + found["writes"], 1)


@cache
def benefit(
    variant: Variant = Variant.V2,
    ms: int = 5,
    writers: tuple[float, ...] = WRITERS,
    remote_ns: int = 60,
    think_ns: int = 500,
) -> pd.DataFrame:
    """What a variant keeps of the benefit of speculative faults, over threads, VMAs and writers.

    Returns
    -------
    DataFrame
        Columns `cpus` (as many threads), `sharing` (threads a VMA), `writer_share`, the time of an
        operation [ns] `base` (mmap_lock), `spf` and `series`, `faster` (SPF gains 1 % or more
        of the base) and `benefit` = (base - series) / (base - spf) [%].
    """
    rows = []
    for cpus, sharing, share in product(CPUS, SHARING, writers):
        params = Contention(
            cpus=cpus,
            threads=cpus,
            vmas=cpus // sharing,
            writer_share=share,
            think_ns=think_ns,
            ms=ms,
            remote_ns=remote_ns,
        )
        base, spf, series = (
            time_of_a_fault(params.model_copy(update={"variant": each}))
            for each in (Variant.MMAP_LOCK, Variant.SPF, variant)
        )
        rows.append((cpus, sharing, share, base, spf, series))
    table = pd.DataFrame(rows, columns=["cpus", "sharing", "writer_share", "base", "spf", "series"])
    table["faster"] = table["base"] - table["spf"] > 0.01 * table["base"]
    table["benefit"] = 100 * (table["base"] - table["series"]) / (table["base"] - table["spf"])
    return table


VARIANTS = (Variant.MMAP_LOCK, Variant.SPF, Variant.VMA_RWSEM, Variant.V6_12, Variant.RANGE)
"""Those that a chart of throughput tells apart: 7.3 lies on 6.12, and v2 close above it."""


@cache
def over_cpus(writer_share: float = 0.01, ms: int = 10) -> pd.DataFrame:
    """Counters of `vmalock/contention` with as many threads and VMAs as CPUs, by CPUs and variant.

    Returns
    -------
    DataFrame
        Counters with the column `cpus`.
    """
    return pd.concat(
        simulate(
            Contention(
                cpus=cpus,
                threads=cpus,
                vmas=cpus,
                variant=variant,
                writer_share=writer_share,
                ms=ms,
            )
        ).assign(cpus=cpus)
        for cpus, variant in product((1, 2, 4, 8, 16, 32, 64, 128), VARIANTS)
    )
