"""`gso/vhost-cost` on a kernel: instructions of packets over vhost-net, with icount."""

import pandas as pd

from lorelab import counters
from lorelab.gso.kernel import boot
from lorelab.gso.kernel.vhost import BUFFERS
from lorelab.gso.params import VhostCost
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import machine_of

SENDS, REPEATS = BUFFERS, 6
"""Six, so that their range has the median with 97 % (`lorelab.judging.rows.intervals`)."""
SEGMENT = 1400


def _request(batch: list[VhostCost]) -> Request:
    runs = [program(params) for _ in range(REPEATS) for params in batch]
    zerocopy = batch[0].zerocopy
    content = {"runs": runs, "bare": True, "zcopytx": str(int(zerocopy))}
    job = Job(boot.DESIGN, "vhost", content, 60.0 * len(runs), rows=len(runs))
    machine = boot.WITH_VHOST._replace(icount=True, append=(boot.ZCOPYTX.format(zerocopy),))
    return Request(machine, job, patched=True)


def _counters(params: VhostCost, measured: Measured, run: int) -> pd.DataFrame:
    """`instructions` of vhost's thread for so many `sends`, a step for each repeat.

    Those are of taking a packet from the ring, copying it or not, the tap, the bridge,
    segmentation, the device, freeing, and giving it back. What the guest's driver does is left out.
    """
    repeats = measured.rows[run :: len(measured.rows) // REPEATS]
    columns = {
        "sends": ("sends", [SENDS] * REPEATS),
        "instructions": ("instructions", [row["ns"] for row in repeats]),
    }
    variant = "refcnt" if params.refcnt else "upstream"
    return counters.table("gso/vhost-cost", variant, "kernel", columns)


def program(params: VhostCost) -> dict[str, object]:
    """One run for the guest's `vhost.py`."""
    return {
        "switches": boot.vhost_switches(params.refcnt),
        "link": "dummy",
        "protocol": "udp",
        "sends": SENDS,
        "length": params.length,
        "segment": SEGMENT,
        "buffers": BUFFERS,
        "qdisc": [],
    }


measure = Measurement("gso/vhost-cost", _request, _counters, machine=machine_of)
