"""`gso/tcp` on a kernel: a stream between two cards, every word of it checked."""

import pandas as pd

from lorelab.gso.kernel import boot
from lorelab.gso.params import Tcp
from lorelab.gso.workload.tcp import table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, RunOptions, one_boot

BURST = 2000
"""Bytes: a token bucket that no super-packet fits into has it segmented before it is queued."""


def _check(params: Tcp, options: RunOptions) -> None:
    boot.check_variant(params.variant)
    boot.check_words({"length": params.length})


def _request(batch: list[Tcp]) -> Request:
    runs = [program(params) for params in batch]
    job = Job(boot.DESIGN, "stream", {"runs": runs}, boot.SECONDS_A_RUN * len(runs), rows=len(runs))
    return Request(boot.WIRED, job, patched=True)


def _counters(params: Tcp, measured: Measured, run: int) -> pd.DataFrame:
    row = measured.rows[run]
    values = {name: row[name] for name in ("told", "read_bytes")}
    if "copies" in row:  # skb_copy_ubufs() may be inlined
        values["copies"] = int(row["copies"] > 0)
    values["corrupted"] = int(row["wrong"] > 0)
    values["complaints"] = len(row["complaints"])
    return table(params, values, "kernel")


def program(params: Tcp) -> dict[str, object]:
    """One run for the guest's `stream.py`."""
    return {
        "switches": boot.switches(params.variant),
        "link": "wire",
        "protocol": "tcp",
        "sends": params.sends,
        "length": params.length,
        "segment": 0,
        # One, so that each send has a ubuf_info of its own: of sends that wait together many share
        # one (msg_zerocopy_realloc()), which is told of when the last of them is acknowledged.
        "buffers": 1,
        "zerocopy": True,
        "qdisc": boot.queues(BURST, 5, params),
        "tap": False,
        "sleep_ms": 0,
    }


measure = Measurement("gso/tcp", _request, _counters, machine=one_boot, check=_check)
