"""`gso/traffic` on a kernel: UDP over a link whose device does not segment.

All runs of one link are in one boot. A run goes over `dummy`, which swallows what it is sent,
unless the bytes that arrive are to be checked (`held`: two cards on a hub) or come in on a receive
path (`received`: veth).
"""

from typing import Any

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.model.traffic import PROBED
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.workload.traffic import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import label

MODES = {
    Variant.HEAD_ONLY: "none",
    Variant.PAGE_REFS: "none",
    Variant.ORPHAN: "orphan",
    Variant.PARENT: "thread",
    Variant.PARENT_FIELD: "parent",
    Variant.SHARED_COUNT: "upstream",
    Variant.LAST_SEGMENT: "last",
}
"""Choices of the switch gso/gso_mode."""
HUB = (
    *("-netdev", "hubport,id=near,hubid=0", "-netdev", "hubport,id=far,hubid=0"),
    *("-device", "e1000,netdev=near,mac=52:54:00:00:00:01"),
    *("-device", "e1000,netdev=far,mac=52:54:00:00:00:02"),
)
"""Two cards on one hub: the device model checks sums and gathers fragments by itself."""
LINKS = ("dummy", "veth", "e1000", "sch_tbf", "sch_netem")
"""Modules of the links and queues."""
LARGEST_MIB = 512
SECONDS_A_RUN = 120.0


def _request(batch: list[Traffic]) -> Request:
    runs = [program(params, link(params)) for params in batch]
    machine = Machine(qemu=HUB if link(batch[0]) == "wire" else (), modules=LINKS)
    job = Job("gso", "traffic", {"runs": runs}, SECONDS_A_RUN * len(runs), rows=len(runs))
    return Request(machine, job, patched=True)


def _counters(params: Traffic, measured: Measured, run: int) -> pd.DataFrame:
    return table(params, counted(measured.rows[run]), "kernel")


def counted(row: dict[str, Any]) -> dict[str, int]:
    """Counters that the guest measured.

    Over `dummy` nothing arrives, so nobody can say what is `wrong`, and of a function that the
    compiler inlined there are no calls to count: such a counter is absent, which is not 0.
    """
    return {name: row[name] for name in PROBED if name in row}


def check_variant(variant: Variant) -> None:
    """Raise BadInput for a variant that the kernel has no switch for."""
    if variant not in MODES:
        known = ", ".join(label(variant) for variant in MODES)
        raise BadInput(f"variant={label(variant)}: the kernel has one of {known}")


def check(params: Traffic) -> None:
    """Raise BadInput for what the kernel can't follow."""
    check_variant(params.variant)
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
        netem = "parent 1:1 handle 10: netem limit 1000000"
        netem += " delay 400ms"
        netem += f" reorder {params.reorder:g}%" if params.reorder else ""
        netem += f" loss {params.loss:g}%" if params.loss else ""
        netem += f" seed {params.seed}"
        # A bucket smaller than a packet is what has it segmented before it is queued; it holds
        # what overtakes, which leaves in one go.
        burst = max(2000, params.length * 3 // 4)
        qdisc = [f"root handle 1: tbf rate 30gbit burst {burst} limit 100000000", netem]
    return {
        "switches": {"gso/gso_mode": MODES[params.variant]} if MODES[params.variant] != "upstream"
        else {},
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
    }  # fmt: skip


measure = Measurement(
    "gso/traffic", _request, _counters, machine=link, check=lambda params, _: check(params)
)
