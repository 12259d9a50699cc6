"""`gso/traced` on a kernel: recorded as a reader records it, and read as a reader's file."""

import tempfile
from pathlib import Path

import pandas as pd

from lorelab.errors import RunFailed
from lorelab.gso.kernel import boot, traffic
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.recording import recording, report
from lorelab.gso.workload.probed import check
from lorelab.gso.workload.traced import table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, RunOptions

SECONDS = 25
"""Of a recording: longer than a run."""


def _check(params: Traffic, options: RunOptions) -> None:
    check(params)
    traffic.check(params)


def _machine(params: Traffic) -> tuple[bool, bool]:
    # No patch, unless the variant is one that takes a switch.
    return params.variant != Variant.SHARED_COUNT, params.received


def _request(batch: list[Traffic]) -> Request:
    patched, received = _machine(batch[0])
    link = "veth" if received else "dummy"
    runs = [traffic.program(params, link) for params in batch]
    content = {"script": recording.SCRIPT.read_text(), "seconds": SECONDS, "runs": runs}
    job = Job(boot.DESIGN, "traced", content, boot.SECONDS_A_RUN * len(runs), rows=len(runs))
    return Request(boot.MACHINE, job, patched)


def _counters(params: Traffic, measured: Measured, run: int) -> pd.DataFrame:
    return table(params, totals_of(measured.rows[run]["text"]), "kernel")


def totals_of(text: str) -> dict[str, int]:
    """Totals of a recording's text: those that it has."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording"
        file.write_text(text)
        read = recording.read(file)
    if read.lost:
        raise RunFailed(f"gso/traced: the kernel lost {read.lost} events of the recording")
    summary = report.summary(read)
    sender = summary[summary["where"] == "MSG_ZEROCOPY"].set_index("what")["value"]
    sums = {name.replace(" ", "_"): int(value) for name, value in sender.items()}
    copies = summary[summary["what"] == "copies"].set_index("where")["value"]
    if report.UNKNOWN not in copies:
        # Each call has its caller, so a function that is not there did not call.
        sums["copies_by_skb_segment"] = cut = int(copies.get("skb_segment", 0))
        sums["copies_by_others"] = int(copies.sum()) - cut
    sizes = summary.loc[summary["what"] == "copied", "value"]
    # A kernel without BTF of function arguments does not say how long a copy is.
    if len(sizes) == len(copies):
        sums["copied_bytes"] = int(sizes.sum())
    return sums


measure = Measurement("gso/traced", _request, _counters, machine=_machine, check=_check)
