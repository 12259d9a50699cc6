"""`damon/schemes` on a real kernel: DAMOS through sysfs, zram to swap to, and huge pages to get.

The guest is that of `lorelab.damon.kernel.boot`, an instruction taking 8 ns, with a second CPU.
Every run begins with a process of its own, nothing swapped, and khugepaged asleep until a process
registers. The program never sleeps; kdamond shares its CPU, as a real-time task, and khugepaged has
the other one. QEMU lets one CPU execute at a time, so that the program is slower meanwhile.

A record says what an access, a check, a sleep, a page out and a huge page took on that machine, and
how long before the program monitoring began, for the model to be told (`lorelab.damon.agree.runs`).
"""

from typing import Any

import numpy as np

from lorelab.counters import table
from lorelab.damon.experiments.schemes import BUILTIN, STATISTICS, parse
from lorelab.damon.kernel.boot import LARGEST_MIB, Run, boot, check, speeds, windows
from lorelab.damon.model.damos import Action
from lorelab.damon.params import Schemes
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
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
SPEEDS = {
    "access": "ns",
    "check": "ns",
    "sleep": "us",
    "page": "ns",
    "collapse": "ns",
    "lead": "us",
}
"""What it took: an access, a check, a sleep of kdamond, a page out, a huge page of khugepaged's;
and from the begin of monitoring to the program's."""
CPUS = 2


def measure(wanted: list[Schemes], lab: Lab | None = None) -> list[Record]:
    """Run `damon/schemes` on a kernel, all in one boot.

    Returns
    -------
    list of Record
        Counters as `lorelab.damon.experiments.schemes.simulate()` gives them, but for the pages
        that collapses filled; huge pages split, as a kernel could; and `SPEEDS`.
    """
    for params in wanted:
        possible(params)
    each = [
        params.model_copy(update={"seed": params.seed + n})
        for params in wanted
        for n in range(params.runs)
    ]
    runs, measured = boot(
        each,
        [configuration(one) for one in each],
        [rules(one) for one in each],
        "regions",
        lab,
        cpus=CPUS,
    )
    found = []
    for params in wanted:
        number = sum(len(one.counters["step"].unique()) for one in found)
        mine = runs[number : number + params.runs]
        counters = table("damon/schemes", label(params.variant), "kernel", totals(params, mine))
        found.append(measured.record("damon/schemes", params, counters, number + 1))
    return found


def possible(params: Schemes) -> None:
    """Raise BadInput for what the laboratory's kernel can't run."""
    check(params.model_copy(update={"check_ns": type(params).model_fields["check_ns"].default}))
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


def totals(params: Schemes, runs: list[Run]) -> dict[str, tuple[str, np.ndarray]]:
    """Counters of the runs of one set of parameters, a value a run."""
    memory = sum(configuration(params).regions.values())
    found = {
        "runs": ("runs", np.ones(len(runs))),
        "memory": ("bytes", np.full(len(runs), float(memory))),
    }
    for name, unit in UNITS.items():
        found[name] = (unit, np.array([float(run.memory[name]) for run in runs]))
    for n in range(len(runs[0].schemes)):
        for name, unit in STATISTICS.items():
            values = np.array([float(run.schemes[n][name]) for run in runs])
            found[f"scheme{n}_{name}"] = (unit, values)
    said = [_regions(run) for run in runs]
    found["windows"] = ("windows", np.array([len(one) for one in said]))
    found["nr_regions_mean"] = ("regions", np.array([np.mean(one) for one in said]))
    took = [speeds(params, run) + _costs(run) for run in runs]
    for name, values in zip(SPEEDS, np.transpose(took), strict=True):
        found[name] = (SPEEDS[name], values)
    return found


def _regions(run: Run) -> list[int]:
    begun = int(run.truth[0, 0])
    return [len(rows) for end, _, rows in windows(run) if begun < end <= run.ended]


def _costs(run: Run) -> tuple[float, float, float]:
    # Of a page out, and of a huge page that khugepaged made; and the lead.
    out, made = run.memory["paged_out"], run.memory["collapses"]
    return (
        run.applying_ns / out if out else 0.0,
        run.memory["khugepaged_ns"] / made if made else 0.0,
        (int(run.truth[0, 0]) - run.watched) / 1000,
    )
