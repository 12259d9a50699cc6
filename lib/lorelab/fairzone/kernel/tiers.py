"""`fairzone/tiers` on a kernel of Debian's: a near node, and a far one that is slower.

The laboratory's own kernels take no speeds from the firmware (ACPI_HMAT), so have one memory tier.
"""

from math import gcd
from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Tiers
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.tiers import NAME, PARTS
from lorelab.lab.boot import Machine
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.params import machine_of

SPEEDS = ((100, "100G"), (300, "30G"))
"""Latency in ns and bandwidth of each node, as the guest is told; QEMU's memory is equally fast."""
MEMORY_TIERING = 2
"""Of kernel.numa_balancing: promote what is used on a slow node."""


def _check(params: Tiers, options: RunOptions) -> None:
    if options.image is None:
        raise BadInput(
            f"{NAME}: takes --kernel PATH, a kernel with ACPI_HMAT such as Debian's; the "
            "laboratory's has it not"
        )


def with_tiers(params: Tiers) -> Machine:
    """A guest of two nodes; the far one has no CPU, and lies above the 4 GiB line.

    The pages of its zone, Normal, can so be told from those of the near node, DMA and DMA32.
    """
    near, far = params.near_mib, params.far_mib
    options = ["-machine", f"hmat=on,max-ram-below-4g={near}M"]
    for node, (size, words) in enumerate(((near, "cpus=0"), (far, "initiator=0"))):
        options += ["-object", f"memory-backend-ram,id=node{node},size={size}M"]
        options += ["-numa", f"node,nodeid={node},memdev=node{node},{words}"]
    for node, (latency, bandwidth) in enumerate(SPEEDS):
        to = f"hmat-lb,initiator=0,target={node},hierarchy=memory"
        options += ["-numa", f"{to},data-type=access-latency,latency={latency}"]
        options += ["-numa", f"{to},data-type=access-bandwidth,bandwidth={bandwidth}"]
    *throttled, device = boot.disk(params.disk_mb_s)
    # Behind the guest's root and /lab, whose names are in the command line of such a kernel.
    options += [*throttled, f"{device},addr=0x10"]
    # Else the kernel's image is on a node drawn at each boot.
    return Machine(1, near + far, append=("nokaslr",), qemu=tuple(options))


def _request(batch: list[Tiers]) -> Request:
    runs = [run(params) for params in batch for _ in range(params.repeats)]
    return boot.request(with_tiers(batch[0]), runs, patched=False, workload="tiers")


def run(params: Tiers) -> dict[str, Any]:
    """One run for the guest's `tiers.py`."""
    memory = (params.near_mib + params.far_mib) * PAGES_A_MIB
    whole = [(1 + params.turnovers) * memory, PARTS]
    phases = [
        {"name": "fill", "reads": [0, memory], "maps": whole},
        {"name": "read", "reads": [memory, params.turnovers * memory], "maps": whole},
    ]
    part = gcd(params.near_mib, params.far_mib)
    weights = [params.near_mib // part, params.far_mib // part] if params.interleave else []
    return {
        "min_free_kib": params.min_free_kib,
        "demotion": params.demotion,
        "mglru": params.mglru,
        "numa_balancing": MEMORY_TIERING if params.promo_mark else 0,
        "weights": weights,
        "phases": phases,
    }


def _counters(params: Tiers, measured: Measured, run: int) -> pd.DataFrame:
    """As `boot.counted()` has them, and `read_cached_NN`, cached pages of part NN at the end."""
    rows = [boot.phases(measured, run + n) for n in range(params.repeats)]
    counters = boot.counted(rows)
    for part, pages in enumerate(zip(*(phases[-1]["cached"] for phases in rows), strict=True)):
        counters[f"read_cached_{part:02}"] = ("pages", list(pages))
    return table(NAME, "unpatched", "kernel", counters)


measure = Measurement(
    NAME, _request, _counters, machine_of, _check, repeats=lambda params: params.repeats
)
