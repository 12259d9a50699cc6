"""`gso/traced` on a kernel: recorded as a reader records it, and read as a reader's file."""

import tempfile
from pathlib import Path

from lorelab.errors import RunFailed
from lorelab.gso.experiments.probed import check
from lorelab.gso.experiments.traced import table
from lorelab.gso.kernel import traffic
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.trace import recording, report
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as boot

SECONDS = 25
"""Of a recording: longer than a run."""


def measure(wanted: list[Traffic], lab: Lab | None = None) -> list[Record]:
    """Send on a kernel while `record.sh` records; runs of a kind share a boot.

    The kernel has no patch, unless the variant is one that takes a switch.

    Raises
    ------
    BadInput
        The recording can't follow a parameter, or the laboratory or the kernel lacks something.
    RunFailed
        The guest did not come to the end, or the kernel lost events.
    """
    for params in wanted:
        check(params)
        traffic.check(params)

    def kind(params: Traffic) -> tuple[bool, bool]:
        return params.variant != Variant.SHARED_COUNT, params.received

    def alike(some: list[Traffic]) -> list[Record]:
        return _measure(some, lab, *kind(some[0]))

    return by_boot(wanted, kind, alike)


def _measure(wanted: list[Traffic], lab: Lab | None, patched: bool, received: bool) -> list[Record]:
    link = "veth" if received else "dummy"
    runs = [traffic.program(params, link) for params in wanted]
    asked = {"script": recording.SCRIPT.read_text(), "seconds": SECONDS, "runs": runs}
    job = Job("gso", "traced", asked, traffic.SECONDS_A_RUN * len(runs), rows=len(runs))
    measured = boot(Machine(modules=traffic.LINKS), job, lab, patched=patched)
    records = []
    for run, (params, row) in enumerate(zip(wanted, measured.rows, strict=True), 1):
        found = said(row["text"])
        records.append(measured.record("gso/traced", params, table(params, found, "kernel"), run))
    return records


def said(text: str) -> dict[str, int]:
    """Totals of a recording's text: those that it has."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording"
        file.write_text(text)
        read = recording.read(file)
    if read.lost:
        raise RunFailed(f"gso/traced: the kernel lost {read.lost} events of the recording")
    told = report.summary(read)
    sender = told[told["where"] == "MSG_ZEROCOPY"].set_index("what")["value"]
    found = {name.replace(" ", "_"): int(value) for name, value in sender.items()}
    copies = told[told["what"] == "copies"].set_index("where")["value"]
    if report.UNKNOWN not in copies:
        # Each call has its caller, so a function that is not there did not call.
        found["copies_by_skb_segment"] = cut = int(copies.get("skb_segment", 0))
        found["copies_by_others"] = int(copies.sum()) - cut
    sizes = told.loc[told["what"] == "copied", "value"]
    # A kernel without BTF of function arguments does not say how long a copy is.
    if len(sizes) == len(copies):
        found["copied_bytes"] = int(sizes.sum())
    return found
