"""`gso/probed` on a kernel: `gso/traffic`, watched by the probe `zerocopy`."""

from typing import Any

from lorelab.errors import RunFailed
from lorelab.gso.experiments import probed
from lorelab.gso.kernel import traffic
from lorelab.gso.params import Traffic, Variant
from lorelab.lab import probes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot

PROBE = "zerocopy"


def measure(wanted: list[Traffic], lab: Lab | None = None) -> list[Record]:
    """Send on a kernel, watched by the probe; a boot for each run.

    The kernel has no patch, unless the variant is one that takes a switch.

    Raises
    ------
    BadInput
        The probe can't follow a parameter, or the laboratory or the kernel lacks something.
    RunFailed
        The guest did not come to the end, or the probe missed something.
    """
    for params in wanted:
        probed.check(params)
        traffic.check(params)
    return [_measure(params, lab) for params in wanted]


def _measure(params: Traffic, lab: Lab | None) -> Record:
    run = traffic.program(params, traffic.link(params))
    job = Job("gso", "traffic", {"runs": [run]}, traffic.SECONDS_A_RUN, rows=1, probes=(PROBE,))
    patched = params.variant != Variant.SHARED_COUNT
    measured = boot(Machine(modules=traffic.LINKS), job, lab, patched=patched)
    if missed := probes.lost(measured.probes):
        raise RunFailed(f"{probed.NAME}: the probe missed events: {missed}")
    [row] = measured.rows
    totals, spread = said(measured.probes)
    table = probed.table(params, traffic.counted(row), totals, spread, "kernel")
    return measured.record(probed.NAME, params, table)


def said(frames: list[dict[str, Any]]) -> tuple[dict[str, int], dict[str, dict[int, int]]]:
    """Totals of the probe, and of each `by_...` how many packets had how many."""
    totals: dict[str, int] = {}
    spread: dict[str, dict[int, int]] = {}
    for frame in frames:
        for counter, _, _, value in frame.get("counters", ()):
            if counter.startswith("by_"):
                name, key = counter.rsplit("_", 1)
                spread.setdefault(name, {})[int(key)] = value
            else:
                totals[counter] = value
    return totals, spread
