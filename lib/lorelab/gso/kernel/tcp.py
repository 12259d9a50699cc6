"""`gso/tcp` on a kernel: a stream between two cards, every word of it checked."""

from lorelab.errors import BadInput
from lorelab.gso.experiments.tcp import table
from lorelab.gso.kernel.traffic import HUB, LINKS, MODES, SECONDS_A_RUN
from lorelab.gso.params import Tcp
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot
from lorelab.params import label

BURST = 2000
"""Bytes: a token bucket that no super-packet fits into has it segmented before it is queued."""


def measure(wanted: list[Tcp], lab: Lab | None = None) -> list[Record]:
    """Send on a kernel, all runs in one boot.

    Raises
    ------
    BadInput
        The kernel has no such variant, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        if params.variant not in MODES:
            known = ", ".join(label(variant) for variant in MODES)
            raise BadInput(f"variant={label(params.variant)}: the kernel has one of {known}")
    runs = [program(params) for params in wanted]
    job = Job("gso", "stream", {"runs": runs}, SECONDS_A_RUN * len(runs), rows=len(runs))
    measured = boot(Machine(qemu=HUB, modules=LINKS), job, lab, patched=True)
    records = []
    for run, (params, row) in enumerate(zip(wanted, measured.rows, strict=True), 1):
        found = {name: row[name] for name in ("told", "read_bytes")}
        if "copies" in row:  # skb_copy_ubufs() may be inlined
            found["copies"] = int(row["copies"] > 0)
        found["corrupted"] = int(row["wrong"] > 0)
        found["complaints"] = len(row["complaints"])
        records.append(measured.record("gso/tcp", params, table(params, found, "kernel"), run))
    return records


def program(params: Tcp) -> dict[str, object]:
    """One run for the guest's `traffic.py`."""
    mode = MODES[params.variant]
    netem = "parent 1:1 handle 10: netem limit 1000000 delay 5ms"
    netem += f" reorder {params.reorder:g}%" if params.reorder else ""
    netem += f" loss {params.loss:g}%" if params.loss else ""
    netem += f" seed {params.seed}"
    return {
        "switches": {} if mode == "upstream" else {"gso/gso_mode": mode},
        "link": "wire",
        "protocol": "tcp",
        "sends": params.sends,
        "length": params.length,
        "segment": 0,
        # One, so that each send has a ubuf_info of its own: of sends that wait together many share
        # one (msg_zerocopy_realloc()), which is told of when the last of them is acknowledged.
        "buffers": 1,
        "zerocopy": True,
        "qdisc": [f"root handle 1: tbf rate 30gbit burst {BURST} limit 100000000", netem],
        "tap": False,
        "sleep_ms": 0,
    }
