"""`gso/vhost-cost` on a kernel: instructions of a guest's packets, with icount."""

from lorelab import counters
from lorelab.gso.kernel.vhost import BUFFERS, MACHINE
from lorelab.gso.params import VhostCost
from lorelab.lab.boot import Job
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot

SENDS, REPEATS = BUFFERS, 6
"""Six, so that their range has the median with 97 % confidence (`lorelab.rows.intervals`)."""
SEGMENT = 1400


def measure(wanted: list[VhostCost], lab: Lab | None = None) -> list[Record]:
    """Count instructions of packets over vhost-net and a bridge to `dummy0`, all in one boot.

    Returns
    -------
    list of Record
        `instructions` of vhost's thread for so many `sends`, a step for each repeat: taking a
        packet from the ring, copying it or not, the tap, the bridge, segmentation, the device,
        freeing, and giving it back. What the guest's driver does is left out.

    Raises
    ------
    BadInput
        The laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    runs = [program(params) for _ in range(REPEATS) for params in wanted]
    job = Job("gso", "vhost", {"runs": runs, "bare": True}, 60.0 * len(runs), rows=len(runs))
    measured = boot(MACHINE._replace(icount=True), job, lab, patched=True)
    records = []
    for number, params in enumerate(wanted):
        each = measured.rows[number :: len(wanted)]
        found = {
            "sends": ("sends", [SENDS] * REPEATS),
            "instructions": ("instructions", [row["ns"] for row in each]),
        }
        variant = "refcnt" if params.refcnt else "upstream"
        table = counters.table("gso/vhost-cost", variant, "kernel", found)
        records.append(measured.record("gso/vhost-cost", params, table, number + 1))
    return records


def program(params: VhostCost) -> dict[str, object]:
    """One run for the guest's `vhost.py`."""
    return {
        "switches": {"gso/vhost_refcnt": "on"} if params.refcnt else {},
        "link": "dummy",
        "sends": SENDS,
        "length": params.length,
        "segment": SEGMENT,
        "buffers": BUFFERS,
        "qdisc": [],
    }
