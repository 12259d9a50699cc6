"""`gso/lost` on a kernel: two CPUs that complete segments of one packet, with KCSAN or without."""

import pandas as pd

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.gso.kernel.traffic import LINKS
from lorelab.gso.params import Lost
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request

SECONDS = 300.0
SENDERS = 8
"""As in the guest's `lost.py`."""
SEGMENT = 1400
UNITS = {"told": "packets", "lost": "packets", "sent": "segments", "arrived": "segments"}
APPEND = {"kcsan": ("kcsan.early_enable=0",)}
"""The job lets it look; what it says of a boot would be the run's failure."""


def _request(batch: list[Lost]) -> Request:
    [params] = batch
    one = {"rounds": params.sends // SENDERS, "segments": params.segments, "segment": SEGMENT}
    job = Job("gso", "lost", {"runs": [one]}, SECONDS, rows=1)
    machine = Machine(cpus=2, modules=(*LINKS, "bridge"), append=APPEND.get(params.config, ()))
    config = None if params.config == "lab" else params.config
    return Request(machine, job, patched=True, config=config)


def _counters(params: Lost, measured: Measured, run: int) -> pd.DataFrame:
    """`told`, `lost` (as not copied) [packets]; `sent` on CPU 0, `arrived` and copied [segments].

    And each complaint, a counter `kernel: WORDS` with how often it came.
    """
    [row] = measured.rows
    if row["lent"] != params.sends:
        raise RunFailed(
            f"gso/lost: without the veth {row['lent']} of {params.sends} sends lend their pages"
        )
    columns = {name: (unit, [row[name]]) for name, unit in UNITS.items()}
    columns |= {f"kernel: {words}": ("times", [n]) for words, n in row["complaints"].items()}
    return counters.table("gso/lost", params.config, "kernel", columns, first=0)


measure = Measurement("gso/lost", _request, _counters)
