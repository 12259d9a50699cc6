"""`fairzone/reread` on a kernel: what is cached of data that was written, and is now read back.

kswapd has a real-time class (SCHED_FIFO): on the guest's one CPU it runs as soon as the task that
woke it gives way, so that a run does not depend on how fast the host emulates the guest.
"""

from functools import partial
from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Reread
from lorelab.fairzone.workload import reread as model
from lorelab.fairzone.workload.reread import NAME, PARTS
from lorelab.lab.records import Record
from lorelab.lab.run import DEFAULTS, Measured, Measurement, Request, RunOptions
from lorelab.params import machine_of

REQUESTS = 4
"""At the disk at once. The page cache of a block device is written a page a bio, and the bios of a
long queue take pages that no model of the cache has: 6,400 in a run of 196,608 pages."""
NO_MEMCG = "cgroup_disable=memory"
"""With memory cgroups `inactive_is_low()` reads lengths of lists that are up to 4 s old, so that
what it demotes depends on the host's pace (`mem_cgroup_flush_stats_ratelimited()`)."""
LISTS = ("inactive_file", "pcp_count")
"""What else of each zone is told of the moment at which a run begins."""


def measure(requested: list[Reread], options: RunOptions = DEFAULTS) -> list[Record]:
    """Write and read the disk `repeats` times; like machines share a boot, but not both programs.

    The first run of a boot is not counted: it begins with what the guest's start has left in the
    page cache and in slabs, which kswapd frees before anything else.

    Raises
    ------
    RunFailed
        The guest did not come to the end.
    """
    loop = Measurement(
        NAME,
        partial(_request, locked=not options.probes),  # a probe's compiler is too large
        _counters,
        machine=machine_of,
        repeats=lambda params: params.repeats,
        warm_up=1,
    )
    return loop(requested, options)


def _request(batch: list[Reread], locked: bool) -> Request:
    first = batch[0]
    counted = [params for params in batch for _ in range(params.repeats)]
    runs = [boot.run(params, plan(params)) for params in [first, *counted]]
    words = () if first.memory_cgroups else (NO_MEMCG,)
    machine = boot.with_zones(first, first.disk_mb_s)._replace(append=words)
    return boot.request(machine, runs, kswapd="fifo", requests=REQUESTS, locked=locked)


def _counters(params: Reread, measured: Measured, run: int) -> pd.DataFrame:
    return to_table(params, [boot.phases(measured, run + n) for n in range(params.repeats)])


def plan(params: Reread) -> list[dict[str, Any]]:
    """Phases of one run, for the guest's `stream.py`."""
    pages = model.pages_of(params)
    phases = []
    for name, writes, first, much in model.plan(params, pages):
        done = {"writes" if writes else "reads": [first, much], "maps": [pages, PARTS]}
        drops = name == "read" and params.workload == "drop-caches"
        phases.append({"name": name, "drops": drops, "fio": params.program == "fio", **done})
    return phases


def to_table(params: Reread, runs: list[list[dict[str, Any]]]) -> pd.DataFrame:
    """What the guest said, a step a repeat.

    Returns
    -------
    DataFrame
        See `lorelab.counters`: what `boot.counted()` has, and for each phase P `P_touched` and
        `P_hits` in pages, and `P_cached_NN`, pages of part NN of the data that are cached when the
        phase begins. Hits are pages touched less pages that the disk gave; the kernel reads ahead
        beyond the end of the data, so that they come out up to two windows (64 pages) too low.
    """
    counters = boot.counted(runs)
    for place, zone in enumerate(runs[0][0]["zoneinfo"]):
        name = f"zone_{zone['node']}_{zone['zone'].lower()}"
        for what in LISTS:
            zones = [run[0]["zoneinfo"][place] for run in runs]
            if all(what in each for each in zones):
                counters[f"{name}_{what}"] = ("pages", [each[what] for each in zones])
    phases = plan(params)
    for place, phase in enumerate(phases):
        name, each = phase["name"], [run[place] for run in runs]
        much = (phase.get("reads") or phase["writes"])[1]
        counters[f"{name}_touched"] = ("pages", [much] * len(runs))
        if "reads" in phase:
            hits = [much - row["changed"]["disk_read"] for row in each]
            counters[f"{name}_hits"] = ("pages", hits)
        for part, pages in enumerate(zip(*(row["cached"] for row in each), strict=True)):
            counters[f"{name}_cached_{part:02}"] = ("pages", list(pages))
    return table(NAME, params.mode, "kernel", counters)
