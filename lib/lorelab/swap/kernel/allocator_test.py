"""`swap/allocator-test` on a real kernel: its own tools/mm/thp_swap_allocator_test.

What an unmodified kernel can follow runs on one. For the rest, switches of lib/kernel/swap/patches
are turned on the laboratory's own. Of a kernel of the reader's, `variant` says which one it is. On
several CPUs the tool stays on one, or moves when it is told to.
"""

from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.params import label
from lorelab.swap.kernel import boot
from lorelab.swap.params import KERNEL, TOOL_ITERATIONS, AllocatorTest, AllocMode

NAME = "swap/allocator-test"

LARGEST_MIB = 16 * 1024
"""zram keeps 16 bytes a page and the swap map one, all in the guest's 2 GiB."""
SWITCHES = {
    "stealing": "swap/steal",
    "slot_cache": "swap/slot_cache",
    "free_cache": "swap/free_cache",
}
"""What turns a parameter that is false "off"."""


def _machine(params: AllocatorTest) -> tuple[int, bool, bool]:
    # Large swap-in, once off on an unmodified kernel, stays off; a switch goes both ways.
    return params.cpus, bool(switches(params)), zswap_once(params)


def _request(batch: list[AllocatorTest]) -> Request:
    runs = [boot.Run(params, turned(params, bool(switches(params)))) for params in batch]
    return boot.zram(boot.Runs(runs, zswap_once(batch[0])))


def _counters(params: AllocatorTest, measured: Measured, run: int) -> pd.DataFrame:
    return iterations(params, boot.rows_of(measured, run))


def switches(params: AllocatorTest) -> dict[str, str]:
    """Switches of lib/kernel/swap/patches that only they can bring about, and their choice."""
    chosen = {}
    if params.alloc_mode != AllocMode.UPSTREAM:
        chosen["swap/alloc_mode"] = label(params.alloc_mode)
    for name, switch in SWITCHES.items():
        if not getattr(params, name):
            chosen[switch] = "off"
    return chosen


def zswap_once(params: AllocatorTest) -> bool:
    """Whether an unmodified kernel has to be kept from swapping in whole folios."""
    return not (switches(params) or params.large_swapin)


def turned(params: AllocatorTest, patched: bool) -> dict[str, str]:
    """Switches of a run, with that of large swap-in where the kernel has it."""
    off = {"swap/large_swapin": "off"} if patched and not params.large_swapin else {}
    return switches(params) | off


def check(params: AllocatorTest, options: RunOptions) -> None:
    """Raise BadInput for what no 6.12, or no kernel of the reader's own, can follow."""
    if params.variant != KERNEL and not options.image:
        raise BadInput(
            f"variant={label(params.variant)}: the laboratory's kernel is a {label(KERNEL)}, whose "
            "alloc_mode comes near some others; the model has them all, and --kernel takes one "
            "of your own"
        )
    if not params.batched_zap:
        raise BadInput("batched_zap=false: no kernel can; only the model can")
    if params.iterations > TOOL_ITERATIONS:
        raise BadInput(
            f"iterations={params.iterations}: the kernel's tool does {TOOL_ITERATIONS}; only the "
            "model does more"
        )
    if params.cpus > boot.MOST_CPUS:
        raise BadInput(f"cpus={params.cpus}: the guest has up to {boot.MOST_CPUS}")
    if params.device_mib > LARGEST_MIB:
        raise BadInput(
            f"device_mib={params.device_mib}: the guest has memory for a zram of {LARGEST_MIB} MiB"
        )


def iterations(params: AllocatorTest, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Counters `swpout` and `swpout_fallback` [folios] of each iteration, out of a run's rows."""
    mine = [row for row in rows if "iteration" in row]
    counters = {
        name: ("folios", [row[name] for row in mine]) for name in ("swpout", "swpout_fallback")
    }
    return table(NAME, label(params.variant), "kernel", counters)


measure = Measurement(NAME, _request, _counters, machine=_machine, check=check)
