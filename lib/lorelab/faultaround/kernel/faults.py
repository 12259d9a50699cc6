"""`faultaround/faults` on an unmodified kernel: the guest says what got mapped, a probe why."""

import numpy as np
import pandas as pd

from lorelab.errors import RunFailed
from lorelab.faultaround.params import Faults
from lorelab.faultaround.workload import cached, reads, table
from lorelab.lab import probes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, one_boot


def _request(batch: list[Faults]) -> Request:
    runs = [
        {
            "order": params.order,
            "first": params.first,
            "cached": cached(params).astype(int).tolist(),
            "reads": reads(params).tolist(),
        }
        for params in batch
    ]
    job = Job("faultaround", "faults", {"runs": runs}, 300.0 * len(runs), len(runs), ("windows",))
    return Request(Machine(memory_mib=1024), job)


def _counters(params: Faults, measured: Measured, run: int) -> pd.DataFrame:
    """Of each fault what the guest says, and the window that the probe saw in the same place."""
    probes.check_whole("faultaround/faults", measured.probes)
    windows = probes.events(measured.probes)["windows.faults"].to_numpy()
    faults = [np.array(row["faults"]) for row in measured.rows]
    if not np.array_equal(windows[:, 0], np.concatenate(faults)[:, 0]):
        raise RunFailed("faultaround/faults: probe and guest have other faults")
    ahead = sum(map(len, faults[:run]))
    page, mapped, lines = faults[run].T
    _, start, end = windows[ahead : ahead + len(faults[run])].T
    page = page - measured.rows[run]["at"]
    return table(params, "kernel", np.stack([page, start, end, mapped, lines], axis=1))


measure = Measurement("faultaround/faults", _request, _counters, machine=one_boot)
