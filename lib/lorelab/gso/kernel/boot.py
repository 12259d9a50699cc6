"""The machines of the chapter: their links, what they load, and the switches of a variant.

Two cards on a hub are a wire: what leaves one arrives at the other, by QEMU's model of the card and
not by the guest's kernel.
"""

from collections.abc import Mapping

from lorelab.errors import BadInput
from lorelab.gso.params import Tcp, Traffic, Variant
from lorelab.lab.boot import Machine
from lorelab.params import label

DESIGN = "gso"
SECONDS_A_RUN = 120.0
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
MACHINE = Machine(modules=LINKS)
"""Without a wire: what is sent goes nowhere, or stays in the guest."""
WIRED = MACHINE._replace(qemu=HUB)
ZCOPYTX = "vhost_net.experimental_zcopytx={:d}"
WITH_VHOST = Machine(
    qemu=HUB,
    append=(ZCOPYTX.format(True),),
    modules=(*LINKS, "bridge", "tun", "vhost_net"),
)
"""Zero copy is off unless it is asked for."""


def switches(variant: Variant) -> dict[str, str]:
    """What makes a variant of the kernel; nothing for the one that it is."""
    mode = MODES[variant]
    return {} if mode == "upstream" else {"gso/gso_mode": mode}


def vhost_switches(refcnt: bool) -> dict[str, str]:
    """What has vhost count the references of a packet, as `refcnt` of the parameters says."""
    return {"gso/vhost_refcnt": "on"} if refcnt else {}


def queues(burst: int, delay_ms: int, lossy: Tcp | Traffic | None = None) -> list[str]:
    """What `tc qdisc add` is given: a token bucket of `burst` bytes, in it a netem that delays.

    netem reorders and drops as `lossy` says, by its seed.
    """
    netem = f"parent 1:1 handle 10: netem limit 1000000 delay {delay_ms}ms"
    if lossy:
        netem += f" reorder {lossy.reorder:g}%" if lossy.reorder else ""
        netem += f" loss {lossy.loss:g}%" if lossy.loss else ""
        netem += f" seed {lossy.seed}"
    return [f"root handle 1: tbf rate 30gbit burst {burst} limit 100000000", netem]


def check_words(sizes: Mapping[str, int]) -> None:
    """Raise BadInput for a size, by name, that is not of whole words, for a reader checks these."""
    for name, size in sizes.items():
        if size < 64 or size % 8:
            raise BadInput(
                f"{name}={size}: takes a multiple of 8 from 64 up on a kernel, whose reader knows "
                "each word"
            )


def check_variant(variant: Variant) -> None:
    """Raise BadInput for a variant that the kernel has no switch for."""
    if variant not in MODES:
        known = ", ".join(label(variant) for variant in MODES)
        raise BadInput(f"variant={label(variant)}: the kernel has one of {known}")
