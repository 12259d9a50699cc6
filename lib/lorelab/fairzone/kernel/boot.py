"""The machines of the chapter, and the runs of lib/kernel/fairzone/guest.

Memory of the guest ends the 4 GiB zone early (max-ram-below-4g), so that a small guest has DMA32
and Normal. The disk takes what is written, gives zeros, and is as slow as it is told to be: no file
of the host is behind it.
"""

import re
from typing import Any

from lorelab.fairzone.params import Followed, Guest, Nodes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Request

DESIGN = "fairzone"
DISK_MIB = 65536
SECONDS_A_RUN = 240.0


UNITS = {
    "passes": "passes",
    "failed_fair_passes": "passes",
    "rescans": "passes",
    "tests": "zones",
    "resets": "resets",
    "slowpaths": "entries",
    "pageoutrun": "runs",
    "kswapd_low_wmark_hit_quickly": "naps",
    "kswapd_high_wmark_hit_quickly": "naps",
    "ms": "ms",
}
"""Units of what is not in pages; skips are in zones."""
CHOICE = {"fixed": "merged"}
"""What the switch fairzone/mode calls a mode, where that is not its name: the patch's `merged` has
the test for 0 or less of September 2014, so it is Variant.FIXED."""


def disk(mb_s: int) -> tuple[str, ...]:
    """QEMU's arguments for the throttled disk."""
    nothing = f"driver=null-co,node-name=nothing,size={DISK_MIB << 20},read-zeroes=on"
    return (
        *("-object", f"throttle-group,id=slow,x-bps-total={mb_s * 1_000_000}"),
        *("-blockdev", nothing),
        *("-blockdev", "driver=throttle,node-name=disk,throttle-group=slow,file=nothing"),
        *("-device", "virtio-blk-pci,drive=disk"),
    )


def with_zones(params: Guest, disk_mb_s: int = 132) -> Machine:
    """A guest with DMA, DMA32 and Normal."""
    line = ("-machine", f"max-ram-below-4g={params.dma32_mib}M")
    return Machine(params.cpus, params.mib, qemu=(*line, *disk(disk_mb_s)))


def with_movable(params: Guest) -> Machine:
    """A guest with DMA, DMA32 and Movable, for what lies below the 4 GiB line is not Normal.

    The preferred zone is never Normal, so that no allocation has ALLOC_NOFRAGMENT
    (`alloc_flags_nofragment()`), whose switch stays as the kernel has it.
    """
    words = (f"movablecore={params.mib - params.dma32_mib}M",)
    return Machine(params.cpus, params.mib, append=words, qemu=disk(132))


def with_nodes(params: Nodes) -> Machine:
    """A guest of two nodes, each with an LRU and a kswapd of its own; `cpu_node` has the CPUs.

    `dma32_mib` of memory are on node 1. With the CPUs on node 0, allocations turn to it when node 0
    is low, as they once turned from Normal to DMA32; with the CPUs on node 1 they turn to node 0
    when node 1 is low, and node 1 has no ZONE_DMA. The guest's kernel numbers nodes in the order of
    ACPI's SRAT, where CPUs come first: there the node that has the CPUs is node 0.
    """
    sizes = (params.mib - params.dma32_mib, params.dma32_mib)
    nodes: list[str] = []
    for node, size in enumerate(sizes):
        cpus = f",cpus=0-{params.cpus - 1}" if node == params.cpu_node else ""
        nodes += ("-object", f"memory-backend-ram,id=node{node},size={size}M")
        nodes += ("-numa", f"node,nodeid={node},memdev=node{node}{cpus}")
    return Machine(params.cpus, params.mib, qemu=(*nodes, *disk(params.disk_mb_s)))


def switches(params: Guest) -> dict[str, str]:
    """The switches of a run; none that stands as the kernel has it."""
    if params.mode == "unpatched":
        return {}
    movable = isinstance(params, Followed) and params.layout == "movable"
    chosen = {} if movable else {"fairzone/nofragment": "ignored"}
    if params.mode != "off":
        chosen["fairzone/mode"] = CHOICE.get(params.mode, params.mode)
    if params.exact:
        chosen["fairzone/counter"] = "exact"
    return chosen


def run(params: Guest, phases: list[dict[str, Any]]) -> dict[str, Any]:
    """One run for the guest's `stream.py`, or `movable.py`."""
    return {
        "switches": switches(params),
        "min_free_kib": params.min_free_kib,
        "phases": phases,
    }


def request(
    machine: Machine,
    runs: list[dict[str, Any]],
    patched: bool = True,
    probes: tuple[str, ...] = (),
    workload: str = "stream",
    **settings: Any,
) -> Request:
    """A boot with `runs` one after the other, under `settings` of the guest's `run()`."""
    params = {"runs": runs, **settings}
    job = Job(DESIGN, workload, params, SECONDS_A_RUN * len(runs), probes=probes)
    return Request(machine, job, patched)


def phases(measured: Measured, run: int) -> list[dict[str, Any]]:
    """What the guest said of each phase of a run."""
    return [row for row in measured.rows if row["run"] == run and "begun" in row]


def zones(phase: dict[str, Any]) -> list[dict[str, Any]]:
    """Zones at the beginning of a phase: /proc/zoneinfo and the patch's counters together.

    Returns
    -------
    list of dict
        By slot, the lowest first: `zone`, `slot`, `managed`, `min`, `low`, `high`, `free`,
        `threshold`, `reserve` and `reserve_dma32` (kept from the highest class and from DMA32).
    """
    rows = []
    for line in phase["begun"].splitlines():
        match = re.match(r"zone (\d+) (\w+) slot (\d+) managed (\d+) .* threshold (\d+)", line)
        if match is None:
            continue
        node, name, slot, managed, threshold = match.groups()
        [info] = (
            zone for zone in phase["zoneinfo"] if zone["zone"] == name and zone["node"] == int(node)
        )
        rows.append(
            {key: info[key] for key in ("min", "low", "high", "free")}
            | {"zone": name, "slot": int(slot), "managed": int(managed)}
            | {"threshold": int(threshold), "reserve": info["protection"][-1]}
            | {"reserve_dma32": info["protection"][1]}
        )
    return sorted(rows, key=lambda zone: zone["slot"])


def counted(runs: list[list[dict[str, Any]]]) -> dict[str, tuple[str, list[int]]]:
    """What the guest counted, for `lorelab.counters.table`: a step a run.

    Parameters
    ----------
    runs : list
        `phases()` of each, of the same plan.

    Returns
    -------
    dict
        For each zone Z of node N: `zone_N_Z_managed`, `_min`, `_low`, `_high`, `_reserve` (kept
        from the highest class), and `_free` when the first phase begins, in pages. For each phase
        P what changed in it: `P_allocated_N_Z`, `P_passes`, `P_disk_read`, ...
    """
    columns: dict[str, tuple[str, list[int]]] = {}

    def add(name: str, unit: str, value: int) -> None:
        columns.setdefault(name, (unit, []))[1].append(value)

    for run in runs:
        for zone in run[0]["zoneinfo"]:
            name = f"zone_{zone['node']}_{zone['zone'].lower()}"
            for what in ("managed", "min", "low", "high", "free"):
                add(f"{name}_{what}", "pages", zone[what])
            add(f"{name}_reserve", "pages", zone["protection"][-1])
        for phase in run:
            for what, value in phase["changed"].items():
                unit = "zones" if what.startswith("skips_") else UNITS.get(what, "pages")
                add(f"{phase['phase']}_{what}", unit, value)
    return columns
