"""`swap/usemem` on a real kernel: usemem in a memory cgroup, scaled down to the guest."""

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.params import label
from lorelab.swap.kernel import boot
from lorelab.swap.kernel.swapout import counted, switches
from lorelab.swap.params import KERNEL, Usemem, Variant

NAME = "swap/usemem"

REPEATS = 6
"""Six span the median with 97 % confidence (`lorelab.judging.rows.intervals`)."""
LARGEST_MIB = 2048
IN_THE_GUEST = {
    "variant": label(KERNEL),
    "architecture": "x86",
    "processes": 4,
    "cpus": 4,
    "mib_each": 8,
    "memcg_mib": 16,
    "swap_mib": 32,
    "split_batching": "true",
}
"""What scales the thread's benchmark down to the guest."""
COUNTED = (
    "swapped",
    "invalidations",
    "deferred",
    "flushes",
    "splits",
    "slot_allocations",
    "fallbacks",
    "bios",
)
"""Counters of the model that a kernel gives."""


def _machine(params: Usemem) -> tuple[int, int, bool]:
    return params.cpus, params.swap_mib, bool(_reclaim(params).switches)


def _request(batch: list[Usemem]) -> Request:
    cpus, swap_mib, _ = _machine(batch[0])
    runs = [_reclaim(params) for params in batch]
    return boot.ram_disk(boot.Rounds(runs, swap_mib, REPEATS, cpus))


def _counters(params: Usemem, measured: Measured, run: int) -> pd.DataFrame:
    """One step a repeat.

    Beside counters of the model there are `remote_flushes`, of the flushes those that interrupted
    another CPU, and `interrupted`, the CPUs that were.
    """
    rows = boot.rounds_of(measured, run)
    repeats = [counted(row, COUNTED) for row in rows]
    columns = {
        name: (unit, [repeat[name][1] for repeat in repeats])
        for name, (unit, _) in repeats[0].items()
    }
    columns["remote_flushes"] = ("flushes", [row["remote"] for row in rows])
    columns["interrupted"] = ("CPUs", [row["received"] for row in rows])
    return table(NAME, label(params.variant), "kernel", columns)


def _reclaim(params: Usemem) -> boot.Reclaim:
    turned = switches(params.force_split, params.folio_order, params.split_batching)
    return boot.Reclaim(
        switches=turned | ({} if params.slot_cache else {"swap/slot_cache": "off"}),
        processes=params.processes,
        mib=params.mib_each,
        order=params.folio_order,
        limit_mib=params.memcg_mib,
        steps=["touch"],
    )


def _check(params: Usemem, options: RunOptions) -> None:
    command = "-p " + " -p ".join(f"{name}={value}" for name, value in IN_THE_GUEST.items())
    for name, fits in (
        ("variant", params.variant == KERNEL),
        ("architecture", params.architecture == "x86"),
        ("processes", params.processes == params.cpus),
        ("cpus", params.cpus <= boot.MOST_CPUS),
        ("swap_mib", params.memcg_mib + 2 * params.swap_mib <= LARGEST_MIB),
    ):
        if not fits:
            value = getattr(params, name)
            shown = label(value) if isinstance(value, Variant) else value
            raise BadInput(
                f"{name}={shown}: the guest is an x86 with a {label(KERNEL)}, a process a CPU, up "
                f"to {boot.MOST_CPUS} CPUs and {LARGEST_MIB} MiB for memcg_mib and twice swap_mib; "
                f"try {command}"
            )


measure = Measurement(NAME, _request, _counters, machine=_machine, check=_check)
