"""`damon/schemes` on a real kernel: DAMOS through sysfs, zram to swap to, and huge pages to get.

The guest is that of `lorelab.damon.kernel.boot`, an instruction taking 8 ns, with a second CPU.
Every run begins with a process of its own, nothing swapped, and khugepaged asleep until a process
registers. The program never sleeps; kdamond shares its CPU, as a real-time task, and khugepaged has
the other one. QEMU lets one CPU execute at a time, so that the program is slower meanwhile.

A record says what an access, a check, a sleep, a page out and a huge page took on that machine, and
how long before the program monitoring began, for the model to have (`lorelab.damon.agree.runs`).
"""

from typing import Any

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.damon.kernel.boot import (
    LARGEST_MIB,
    Run,
    RunRequest,
    check,
    logged,
    played,
    request,
    speeds,
    takes_patches,
)
from lorelab.damon.model.damos import Action
from lorelab.damon.params import TOOK, Schemes, Speeds, runs, took
from lorelab.damon.workload.schemes import BUILTIN, STATISTICS, parse
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import label

UNITS = {
    "own": "bytes",
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
"""What lib/kernel/damon/guest/memory.py says of a run. `own` is there before the program's regions
are: data, stack and heap, which the other counts contain; the model has the regions alone."""
CPUS = 2


def _request(batch: list[Schemes]) -> Request:
    each = [one for params in batch for one in runs(params)]
    requests = [RunRequest(one, configuration(one), rules(one)) for one in each]
    return request(requests, "regions", cpus=CPUS)


def _counters(params: Schemes, measured: Measured, run: int) -> pd.DataFrame:
    """As `lorelab.damon.experiments.schemes.simulate()` has them, and `SPEEDS`.

    But for the pages that collapses filled; and huge pages split, as a kernel could.
    """
    mine = logged(runs(params), measured, run)
    return table("damon/schemes", label(params.variant), "kernel", totals(params, mine))


def possible(params: Schemes) -> None:
    """Raise BadInput for what the laboratory's kernel can't run, or nothing can."""
    check(params)
    rules(params)
    if sum(configuration(params).regions.values()) >> 20 > LARGEST_MIB:
        raise BadInput(f"workload={params.workload}: takes {LARGEST_MIB} MiB at most on the kernel")


def rules(params: Schemes) -> list[dict[str, Any]]:
    """The schemes of `params` as lib/kernel/damon/guest/sysfs.py takes them."""
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


def totals(params: Schemes, mine: list[Run]) -> dict[str, tuple[str, np.ndarray]]:
    """Counters of the runs of one set of parameters, a value a run."""
    memory = sum(configuration(params).regions.values())
    columns = {
        "runs": ("runs", np.ones(len(mine))),
        "memory": ("bytes", np.full(len(mine), float(memory))),
    }
    for name, unit in UNITS.items():
        columns[name] = (unit, np.array([float(run.memory[name]) for run in mine]))
    for n in range(len(mine[0].schemes)):
        for name, unit in STATISTICS.items():
            values = np.array([float(run.schemes[n][name]) for run in mine])
            columns[f"scheme{n}_{name}"] = (unit, values)
    regions = [[len(window.regions) for window in played(run)] for run in mine]
    columns["windows"] = ("windows", np.array([len(one) for one in regions]))
    columns["nr_regions_mean"] = ("regions", np.array([np.mean(one) for one in regions]))
    each = [took(_speeds(params, run)) for run in mine]
    return columns | {
        name: (unit, np.array([one[name][1] for one in each])) for name, unit in TOOK.items()
    }


def _speeds(params: Schemes, run: Run) -> Speeds:
    out, collapses = run.memory["paged_out"], run.memory["collapses"]
    return speeds(params, run)._replace(
        page_ns=run.kdamond.applying_ns / out if out else 0.0,
        collapse_ns=run.memory["khugepaged_ns"] / collapses if collapses else 0.0,
        lead_us=(run.program.begun - run.kdamond.watched) / 1000,
    )


measure = Measurement(
    "damon/schemes",
    _request,
    _counters,
    machine=takes_patches,
    check=lambda params, _: possible(params),
    repeats=lambda params: params.runs,
)
