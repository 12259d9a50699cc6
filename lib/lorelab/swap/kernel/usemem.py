"""`swap/usemem` on a real kernel: usemem in a memory cgroup, scaled down to the guest."""

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.params import label
from lorelab.swap.experiments.usemem import NAME
from lorelab.swap.kernel import boot
from lorelab.swap.kernel.swapout import counted, switches
from lorelab.swap.params import KERNEL, Usemem, Variant

REPEATS = 6
"""Six span the median with 97 % confidence (`lorelab.rows.intervals`)."""
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


def measure(wanted: list[Usemem], lab: Lab) -> list[Record]:
    """Run usemem in a memory cgroup with a limit; those of one machine take turns in one boot.

    Returns
    -------
    list of Record
        As asked: one step a repeat. Beside counters of the model there are `remote_flushes`, of
        the flushes those that interrupted another CPU, and `interrupted`, the CPUs that were.

    Raises
    ------
    BadInput
        The guest can't follow a parameter, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        _check(params)
    return by_boot(
        wanted, lambda params: (params.cpus, params.swap_mib), lambda runs: _measure(runs, lab)
    )


def _measure(wanted: list[Usemem], lab: Lab) -> list[Record]:
    cpus, swap_mib = wanted[0].cpus, wanted[0].swap_mib
    runs = [_reclaim(params) for params in wanted]
    found = boot.ram_disk(boot.Rounds(runs, swap_mib, REPEATS, cpus), lab)
    return [_record(params, told) for params, told in zip(wanted, found, strict=True)]


def _record(params: Usemem, told: boot.Told) -> Record:
    repeats = [counted(row, COUNTED) for row in told.rounds]
    counters = {
        name: (unit, [repeat[name][1] for repeat in repeats])
        for name, (unit, _) in repeats[0].items()
    }
    counters["remote_flushes"] = ("flushes", [row["remote"] for row in told.rounds])
    counters["interrupted"] = ("CPUs", [row["received"] for row in told.rounds])
    laid = table(NAME, label(params.variant), "kernel", counters)
    return told.measured.record(NAME, params, laid, told.place)


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


def _check(params: Usemem) -> None:
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
