"""`gso/probed` on a kernel: `gso/traffic`, watched by the probe `zerocopy`."""

from typing import Any

import pandas as pd

from lorelab.gso.kernel import boot, traffic
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.workload import probed
from lorelab.lab import probes
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, RunOptions

PROBE = "zerocopy"


def _check(params: Traffic, options: RunOptions) -> None:
    probed.check(params)
    traffic.check(params)


def _request(batch: list[Traffic]) -> Request:
    [params] = batch
    run = traffic.program(params, traffic.link(params))
    job = Job(boot.DESIGN, "traffic", {"runs": [run]}, boot.SECONDS_A_RUN, rows=1, probes=(PROBE,))
    # No patch, unless the variant is one that takes a switch.
    patched = params.variant != Variant.SHARED_COUNT
    return Request(boot.MACHINE, job, patched)


def _counters(params: Traffic, measured: Measured, run: int) -> pd.DataFrame:
    probes.check_whole(probed.NAME, measured.probes)
    [row] = measured.rows
    return probed.table(params, traffic.counted(row), *totals_of(measured.probes), "kernel")


def totals_of(frames: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, dict[int, int]]]:
    """Totals of the probe, and of each `by_...` how many packets had how many."""
    totals: dict[str, int] = {}
    spread: dict[str, dict[int, int]] = {}
    for frame in frames:
        for counter, _, _, value in frame.get("counters", ()):
            if counter.startswith("by_"):
                name, key = counter.rsplit("_", 1)
                spread.setdefault(name, {})[int(key)] = value
            else:
                totals[counter] = value
    return totals, spread


measure = Measurement(probed.NAME, _request, _counters, check=_check)
