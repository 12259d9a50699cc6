"""`gso/traffic` on a kernel: UDP over a link whose device does not segment.

All runs of one link are in one boot. A run goes over `dummy`, which swallows what it is sent,
unless the bytes that arrive are to be checked (`held`: two cards on a hub) or come in on a receive
path (`received`: veth).
"""

from typing import Any

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel import boot
from lorelab.gso.model.traffic import PROBED
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.workload.traffic import table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request

LARGEST_MIB = 512


def _request(batch: list[Traffic]) -> Request:
    runs = [program(params, link(params)) for params in batch]
    machine = boot.WIRED if link(batch[0]) == "wire" else boot.MACHINE
    job = Job(
        boot.DESIGN, "traffic", {"runs": runs}, boot.SECONDS_A_RUN * len(runs), rows=len(runs)
    )
    return Request(machine, job, patched=True)


def _counters(params: Traffic, measured: Measured, run: int) -> pd.DataFrame:
    return table(params, counted(measured.rows[run]), "kernel")


def counted(row: dict[str, Any]) -> dict[str, int]:
    """Counters that the guest measured.

    Over `dummy` nothing arrives, so nobody can say what is `wrong`, and of a function that the
    compiler inlined there are no calls to count: such a counter is absent, which is not 0.
    """
    return {name: row[name] for name in PROBED if name in row}


def check(params: Traffic) -> None:
    """Raise BadInput for what the kernel can't follow."""
    boot.check_variant(params.variant)
    boot.check_words({"length": params.length, "segment": params.segment})
    if params.sends * params.length > LARGEST_MIB << 20:
        most = (LARGEST_MIB << 20) // params.length
        raise BadInput(f"sends={params.sends}: the guest has buffers for {most} of this length")
    if params.loss and not params.held:
        raise BadInput(f"loss={params.loss}: takes held=true on a kernel, for tbf holds back too")
    if params.seed != Traffic().seed and not params.held:
        raise BadInput(
            f"seed={params.seed}: takes held=true on a kernel, where netem draws with it"
        )
    if params.tap and params.variant == Variant.PARENT:
        raise BadInput(
            "tap=true, variant=parent: a clone releases the head once too often, and the kernel "
            "stops with a report; see gso/lifetimes"
        )


def link(params: Traffic) -> str:
    """The link that a run goes over."""
    if params.received:
        return "veth"
    return "wire" if params.held else "dummy"


def program(params: Traffic, link: str) -> dict[str, object]:
    """One run for the guest's `traffic.py`."""
    qdisc = []
    if params.held:
        # A bucket smaller than a packet is what has it segmented before it is queued; it holds
        # what overtakes, which leaves in one go.
        qdisc = boot.queues(max(2000, params.length * 3 // 4), 400, params)
    return {
        "switches": boot.switches(params.variant),
        "link": link,
        "protocol": "udp",
        "sends": params.sends,
        "length": params.length,
        "segment": params.segment,
        # One each, so that what is written into one stays there until its segments have left.
        "buffers": params.sends,
        "zerocopy": params.zerocopy,
        "qdisc": qdisc,
        "tap": params.tap,
        "sleep_ms": 0,
    }


measure = Measurement(
    "gso/traffic", _request, _counters, machine=link, check=lambda params, _: check(params)
)
