"""`damon/schemes` on a real kernel: DAMOS through sysfs, zram to swap to, and huge pages to get.

The guest is that of `lorelab.damon.kernel`, an instruction taking 8 ns, so a check takes the
2,105 instructions that `damon/overhead` measures, 17 us, and paging out a page more than ten times
that. The model is told with `check_ns`, which means nothing to the kernel. Every run begins with
a process of its own, nothing swapped, and khugepaged asleep until a process registers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lorelab import agreement
from lorelab.counters import table
from lorelab.damon.kernel import LARGEST_MIB, Run, boot, check, record
from lorelab.damon.operations import BUILTIN, STATISTICS, parse
from lorelab.damon.operations import schemes as simulate
from lorelab.damon.params import Schemes
from lorelab.damon.schemes import Action
from lorelab.damon.setting import configuration
from lorelab.errors import BadInput
from lorelab.lab.records import Record
from lorelab.params import label

UNITS = {
    "resident_mean": "bytes",
    "swapped": "bytes",
    "huge": "bytes",
    "paged_out": "pages",
    "refaults": "pages",
    "huge_faults": "huge pages",
    "collapses": "huge pages",
    "splits": "huge pages",
    "pmd_splits": "huge pages",
}
"""What lib/kernel/guest/damon_memory.py says of a run."""
NEAR = 0.05
"""Of the kernel's mean, within which the model's mean agrees with it."""


def schemes(wanted: list[Schemes], image: Path | None = None) -> list[Record]:
    """Run `damon/schemes` on a kernel, all in one boot; nothing is attached to it.

    Returns
    -------
    list of Record
        Counters as `lorelab.damon.operations.schemes()` gives them, but for the pages that
        collapses filled; and huge pages split, and PMDs split, since a kernel could.
    """
    for params in wanted:
        possible(params)
    each = [
        params.model_copy(update={"seed": params.seed + n})
        for params in wanted
        for n in range(params.runs)
    ]
    runs, measured = boot(
        each, [configuration(one) for one in each], [rules(one) for one in each], "", image
    )
    found = []
    for params in wanted:
        number = sum(len(one.counters["step"].unique()) for one in found)
        mine = runs[number : number + params.runs]
        counters = table("damon/schemes", label(params.variant), "kernel", totals(params, mine))
        found.append(record("damon/schemes", params, counters, measured, number + 1))
    return found


def weigh(params: Schemes, measured: Record) -> pd.DataFrame:
    """Hold the runs of the kernel against as many of the model.

    Both draw random numbers of their own, so a counter agrees where the ranges of the runs meet,
    or the means are within 5 % of each other.

    Returns
    -------
    DataFrame
        As `lorelab.agreement.intervals()`, by byte of the program.
    """
    found = agreement.intervals(simulate(params), measured.counters, "memory")
    near = (found["model"] - found["mean"]).abs() <= NEAR * found["mean"].abs()
    return found.assign(agrees=found["agrees"] | near)


def possible(params: Schemes) -> None:
    """Raise BadInput for what the laboratory's kernel can't run."""
    check(params.model_copy(update={"check_ns": type(params).model_fields["check_ns"].default}))
    if sum(configuration(params).regions.values()) >> 20 > LARGEST_MIB:
        raise BadInput(f"workload={params.workload}: takes {LARGEST_MIB} MiB at most on the kernel")


def rules(params: Schemes) -> list[dict[str, Any]]:
    """The schemes of `params` as lib/kernel/guest/damon_sysfs.py takes them."""
    return [
        {
            "action": Action(int(row["action"])).name.lower(),
            "sz": [int(row["min_sz_region"]), int(row["max_sz_region"])],
            "nr_accesses": [int(row["min_nr_accesses"]), int(row["max_nr_accesses"])],
            "age": [int(row["min_age_region"]), int(row["max_age_region"])],
            "quota_bytes": int(row["sz"]),
            "quota_ms": int(row["reset_interval"]),
        }
        for row in parse(BUILTIN.get(params.schemes, params.schemes), params)
    ]


def totals(params: Schemes, runs: list[Run]) -> dict[str, tuple[str, np.ndarray]]:
    """Counters of the runs of one set of parameters, a value a run."""
    memory = sum(configuration(params).regions.values())
    found = {"memory": ("bytes", np.full(len(runs), float(memory)))}
    for name, unit in UNITS.items():
        found[name] = (unit, np.array([float(run.memory[name]) for run in runs]))
    for n in range(len(runs[0].schemes)):
        for name, unit in STATISTICS.items():
            values = np.array([float(run.schemes[n][name]) for run in runs])
            found[f"scheme{n}_{name}"] = (unit, values)
    return found
