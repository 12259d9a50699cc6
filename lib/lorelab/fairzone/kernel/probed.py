"""`fairzone/probed` on a kernel: the probe `zones` beside the patch's own counters.

A disk is written and read while both count; what each counted of the whole run is the record.
"""

import pandas as pd

from lorelab.counters import table
from lorelab.errors import RunFailed
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Probed
from lorelab.lab import probes
from lorelab.lab.records import Record
from lorelab.lab.run import Lab

NAME = "fairzone/probed"
PROBE = "zones"


def measure(wanted: list[Probed], lab: Lab) -> list[Record]:
    """Write and read the disk under the probe; a boot for each run.

    Returns
    -------
    list of Record
        Counters of a whole run (step 0): `zones.NAME` of the probe, the others of the guest.

    Raises
    ------
    RunFailed
        The probe missed something, or the guest did not come to the end.
    """
    return [_measure(params, lab) for params in wanted]


def _measure(params: Probed, lab: Lab) -> Record:
    pages = params.mib * boot.PAGES_A_MIB * params.data_percent // 100
    plan = [{"name": "write", "writes": [0, pages]}, {"name": "read", "reads": [0, pages]}]
    runs = [boot.run(params, plan)]
    measured = boot.measure(boot.with_zones(params), runs, lab, probes=(PROBE,))
    if missed := probes.lost(measured.probes):
        raise RunFailed(f"{NAME}: the probe missed events, so that nothing is whole: {missed}")
    [whole] = (row["whole"] for row in measured.rows if "whole" in row)
    said = {
        name: ("zones" if name.startswith("skips_") else boot.UNITS.get(name, "pages"), [value])
        for name, value in whole.items()
    }
    patch = table(NAME, params.mode, "kernel", said, first=0)
    seen = probes.counters(NAME, params.mode, measured.probes)
    return measured.record(NAME, params, pd.concat([patch, seen], ignore_index=True))
