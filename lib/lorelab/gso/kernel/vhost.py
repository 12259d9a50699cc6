"""`gso/vhost` on a kernel: vhost-net driven by a program that stands for the guest.

The tap and an e1000 card are ports of one bridge; at the other end of the wire every word of UDP
that arrives is checked. With `unread` another tap is in the place of the card, and nobody reads it.
"""

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel import boot
from lorelab.gso.params import Vhost
from lorelab.gso.workload.vhost import table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.params import machine_of

BUFFERS = 64
"""A quarter of the ring: with more outstanding, vhost copies."""


def _check(params: Vhost, options: RunOptions) -> None:
    if not params.unread and params.protocol == "udp":
        boot.check_words({"length": params.length, "segment": params.segment})
    if params.sends > BUFFERS and (params.held or not params.refcnt):
        raise BadInput(
            f"sends={params.sends}: takes up to {BUFFERS}, for with held=true each packet has a"
            " buffer of its own, and with refcnt=false vhost learns of a copy when the card's"
            " queue has sent the packet, which depends on time"
        )


def _request(batch: list[Vhost]) -> Request:
    runs = [program(params) for params in batch]
    zerocopy = batch[0].zerocopy
    content = {"runs": runs, "bare": False, "zcopytx": str(int(zerocopy))}
    workload = "vhost_unread" if batch[0].unread else "vhost"
    job = Job(boot.DESIGN, workload, content, boot.SECONDS_A_RUN * len(runs), rows=len(runs))
    machine = boot.WITH_VHOST._replace(cpus=batch[0].cpus, append=(boot.ZCOPYTX.format(zerocopy),))
    return Request(machine, job, patched=True)


def _counters(params: Vhost, measured: Measured, run: int) -> pd.DataFrame:
    return table(params, measured.rows[run], "kernel")


def program(params: Vhost) -> dict[str, object]:
    """One run for the guest's `vhost.py`."""
    return {
        "switches": boot.vhost_switches(params.refcnt),
        "link": "wire",
        "protocol": params.protocol,
        "sends": params.sends,
        "length": params.length,
        "segment": params.segment,
        "buffers": min(params.sends, BUFFERS),
        "qdisc": boot.queues(max(2000, params.length * 3 // 4), 60) if params.held else [],
    }


measure = Measurement(
    "gso/vhost",
    _request,
    _counters,
    machine=lambda params: (params.unread, machine_of(params)),
    check=_check,
)
