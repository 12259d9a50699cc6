"""`fairzone/probed` on a kernel: the probe `zones` beside the patch's own counters.

A disk is written and read while both count; what each counted of the whole run is the record.
"""

import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Probed
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.lab import probes
from lorelab.lab.run import Measured, Measurement, Request

NAME = "fairzone/probed"
PROBE = "zones"


def _request(batch: list[Probed]) -> Request:
    [params] = batch
    pages = params.mib * PAGES_A_MIB * params.data_percent // 100
    plan = [{"name": "write", "writes": [0, pages]}, {"name": "read", "reads": [0, pages]}]
    return boot.request(boot.with_zones(params), [boot.run(params, plan)], probes=(PROBE,))


def _counters(params: Probed, measured: Measured, run: int) -> pd.DataFrame:
    """Of a whole run (step 0): `zones.NAME` of the probe, the others of the guest.

    Raises
    ------
    RunFailed
        The probe missed something.
    """
    probes.check_whole(NAME, measured.probes)
    [whole] = (row["whole"] for row in measured.rows if "whole" in row)
    columns = {
        name: ("zones" if name.startswith("skips_") else boot.UNITS.get(name, "pages"), [value])
        for name, value in whole.items()
    }
    patch = table(NAME, params.mode, "kernel", columns, first=0)
    probe = probes.counters(NAME, params.mode, measured.probes)
    return pd.concat([patch, probe], ignore_index=True)


measure = Measurement(NAME, _request, _counters)
