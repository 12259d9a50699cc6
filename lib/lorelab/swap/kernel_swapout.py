"""What a swap-out costs on a real kernel: `swap/swapout`, `swap/usemem`, `swap/instructions`.

lib/kernel/guest/usemem.c does the touching, memory cgroups and memory.reclaim the reclaiming, and
a RAM disk, as in the thread, is the swap device. Costs are counted, not timed: kprobes count the
calls of the functions that clear an entry, flush, allocate slots and write; where instructions
are counted no probe is there.

All of it runs under icount, which emulates the CPUs in turn. With a thread of the host for each,
an interrupt from CPU to CPU waits until the host has run the other one: on a busy host 30 ms each.
"""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import measure
from lorelab.params import label
from lorelab.swap.params import ForceSplit, Instructions, Swapout, Usemem, Variant
from lorelab.swap.swapout import COUNTED
from lorelab.swap.usemem import PAGES_PER_MIB, UNITS

ROUNDS = {"swap/swapout": 1, "swap/usemem": 6, "swap/instructions": 6}
"""How often each run of a boot is done, the runs taking turns. Six repeats span the median with
97 % confidence (`lorelab.agreement.intervals`)."""
BOOTS = 2
"""Boots of each kernel that instructions are counted in: two differ by more than the
repeats of one may."""
WARM_UP = 1
"""Rounds before those, where instructions are counted: the first one fills the kernel's caches."""
GUEST_MIB = 512
"""Memory of the guest beside what is touched and the RAM disk, which holds what is swapped."""
LARGEST_MIB = 2048
SECONDS_A_RUN = 120.0
"""Some 2 s under emulation on an idle machine, 15 s on a host with a load of 16."""


def swapout(wanted: list[Swapout], image: Path | None = None) -> list[Record]:
    """Reclaim each folio of a process once; all of `wanted` in one boot.

    Parameters
    ----------
    wanted : list of Swapout
    image : Path, optional
        bzImage of the reader's own.

    Returns
    -------
    list of Record
        As asked: totals, `COUNTED` of `lorelab.swap.swapout`.

    Raises
    ------
    BadInput
        The laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    runs = [_swapout(params) for params in wanted]
    found = _boot("swap/swapout", list(wanted), runs, 1, image)
    return [
        _record("swap/swapout", params, measured, number, [_counted(rows[0], COUNTED)], 0)
        for params, (number, rows, measured) in zip(wanted, found, strict=True)
    ]


def usemem(wanted: list[Usemem], image: Path | None = None) -> list[Record]:
    """Run usemem in a memory cgroup with a limit; those of one machine take turns in one boot.

    Parameters
    ----------
    wanted : list of Usemem
    image : Path, optional
        bzImage of the reader's own.

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
        _check_usemem(params)
    names = [name for name in UNITS if name in (*COUNTED, "deferred")]
    records: dict[int, Record] = {}

    def machine(number: int) -> tuple[int, int]:
        return wanted[number].cpus, wanted[number].swap_mib

    for (cpus, _), group in groupby(sorted(range(len(wanted)), key=machine), key=machine):
        numbers = list(group)
        chosen = [wanted[i] for i in numbers]
        found = _boot("swap/usemem", chosen, [_usemem(p) for p in chosen], cpus, image)
        for i, (place, rows, measured) in zip(numbers, found, strict=True):
            steps = [
                _counted(row, names)
                | {
                    "remote_flushes": ("flushes", row["remote"]),
                    "interrupted": ("CPUs", row["received"]),
                }
                for row in rows
            ]
            records[i] = _record("swap/usemem", wanted[i], measured, place, steps, 1)
    return [records[i] for i in range(len(wanted))]


def instructions(wanted: list[Instructions], image: Path | None = None) -> list[Record]:
    """Count the instructions of all CPUs while folios are swapped out, and in again.

    Parameters
    ----------
    wanted : list of Instructions
        Those of each kernel take turns in `BOOTS` boots.
    image : Path, optional
        bzImage of the reader's own, in place of the unmodified kernel.

    Returns
    -------
    list of Record
        As asked, one step a repeat: `swapout` and `swapin` (instructions), `pages`.

    Raises
    ------
    BadInput
        The laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    boots = [_instructions(wanted, image) for _ in range(BOOTS)]
    return [pooled(list(found)) for found in zip(*boots, strict=True)]


def pooled(found: list[Record]) -> Record:
    """Repeats of several boots, on from boot to boot, with the provenance of the last."""
    tables, repeats = [], 0
    for record in found:
        tables.append(record.counters.assign(step=record.counters["step"] + repeats))
        repeats = tables[-1]["step"].max()
    counters = pd.concat(tables, ignore_index=True)
    # Counter by counter again, as `lorelab.counters.table` lays out.
    order = {name: place for place, name in enumerate(counters["counter"].unique())}
    counters = counters.sort_values("counter", key=lambda names: names.map(order), kind="stable")
    provenance = found[-1].provenance.model_copy(update={"boots": len(found)})
    return Record(counters.reset_index(drop=True), provenance)


def _instructions(wanted: list[Instructions], image: Path | None) -> list[Record]:
    records: dict[int, Record] = {}
    for series in (False, True):
        numbers = [i for i, params in enumerate(wanted) if params.series == series]
        if not numbers:
            continue
        chosen = [wanted[i] for i in numbers]
        found = _boot("swap/instructions", chosen, [_swapout(p) for p in chosen], 1, image, series)
        for i, (place, rows, measured) in zip(numbers, found, strict=True):
            steps = [
                {
                    "swapout": ("instructions", row[0]),
                    "swapin": ("instructions", row[1]),
                    "pages": ("pages", wanted[i].folios << wanted[i].folio_order),
                }
                for row in rows
            ]
            records[i] = _record("swap/instructions", wanted[i], measured, place, steps, 1)
    return [records[i] for i in range(len(wanted))]


def _swapout(params: Swapout) -> dict[str, Any]:
    size = (params.folios << params.folio_order) * 4096 // params.requests
    how = {
        "elsewhere": f"reclaim {size} {params.requests}",
        "own": f"own {size} {params.requests}",
        "madvise": "pageout",
    }
    steps = ["touch", how[params.reclaimer]]
    if params.dropped:
        steps[1:1] = [f"drop {params.dropped}", "age"]
    if isinstance(params, Instructions):
        steps.append("touch")
    return {
        "switches": _switches(params.force_split, params.folio_order and not params.split_batching),
        "processes": 1,
        "mib": (params.folios << params.folio_order) // PAGES_PER_MIB,
        "order": params.folio_order,
        "limit_mib": None,
        "steps": steps,
    }


def _usemem(params: Usemem) -> dict[str, Any]:
    turned = _switches(params.force_split, params.folio_order and not params.split_batching)
    return {
        "switches": turned | ({} if params.slot_cache else {"slot_cache": "off"}),
        "processes": params.processes,
        "mib": params.mib_each,
        "order": params.folio_order,
        "limit_mib": params.memcg_mib,
        "steps": ["touch"],
    }


def _switches(force_split: ForceSplit, nobatch: bool) -> dict[str, str]:
    turned = {} if not force_split else {"force_split": label(force_split)}
    return turned | ({"split_nobatch": "on"} if nobatch else {})


def _check_usemem(params: Usemem) -> None:
    command = "-p " + " -p ".join(f"{name}={value}" for name, value in IN_THE_GUEST.items())
    for name, fits in (
        ("variant", params.variant == Variant.V6_12),
        ("architecture", params.architecture == "x86"),
        ("processes", params.processes == params.cpus),
        ("cpus", params.cpus <= 8),
        ("swap_mib", params.memcg_mib + 2 * params.swap_mib <= LARGEST_MIB),
    ):
        if not fits:
            value = getattr(params, name)
            shown = label(value) if isinstance(value, Variant) else value
            raise BadInput(
                f"{name}={shown}: the guest is an x86 with a v6.12, a process a CPU, up to 8 CPUs "
                f"and {LARGEST_MIB} MiB for memcg_mib and twice swap_mib; try {command}"
            )


IN_THE_GUEST = {
    "variant": "v6.12",
    "architecture": "x86",
    "processes": 4,
    "cpus": 4,
    "mib_each": 8,
    "memcg_mib": 16,
    "swap_mib": 32,
    "split_batching": "true",
}
"""What scales the thread's benchmark down to the guest."""


def _boot(
    name: str,
    wanted: list[Any],
    runs: list[dict[str, Any]],
    cpus: int,
    image: Path | None,
    series: bool = False,
) -> list[tuple[int, list[Any], Any]]:
    """Boot once and do all `runs` in turns; for each its place, what it gave a round, and where."""
    counting = name == "swap/instructions"
    rounds = ROUNDS[name] + (WARM_UP if counting else 0)
    area = max(
        getattr(params, "swap_mib", 2 * run["mib"])
        for params, run in zip(wanted, runs, strict=True)
    )
    held = max(run["limit_mib"] or run["mib"] for run in runs)
    job = Job(
        workload="swapout",
        params={"rounds": rounds, "instructions": counting, "runs": runs},
        seconds=SECONDS_A_RUN * rounds * len(runs),
        rows=rounds * len(runs),
    )
    machine = Machine(
        cpus=cpus + 1,
        memory_mib=GUEST_MIB + held + area,
        icount=True,
        append=("brd.rd_nr=1", f"brd.rd_size={area * 1024}"),
    )
    patched = series or any(run["switches"] for run in runs)
    measured = measure(machine, job, image, patched=patched)
    return [
        (
            number + 1,
            [
                row["ticks" if counting else "counters"]
                for row in measured.rows
                if row["run"] == number and row["round"] >= rounds - ROUNDS[name]
            ],
            measured,
        )
        for number in range(len(runs))
    ]


def _counted(row: dict[str, int], names: Iterable[str]) -> dict[str, Any]:
    """The model's counters out of what lib/kernel/guest/swapout.py counts."""
    found = {
        "swapped": row["swapped"],
        "invalidations": row["alone"] + row["deferred"] + row["huge"],
        "deferred": row["deferred"],
        "flushes": row["alone"] + row["batches"] + row["huge"],
        "splits": row["split"],
        "slot_allocations": row["slots"] - row["swpout_fallback"],
        "fallbacks": row["swpout_fallback"],
        "bios": row["bios"],
        "shrinker_splits": row["shrinker_splits"],
    }
    return {name: ((UNITS | COUNTED)[name], found[name]) for name in names}


def _record(
    name: str, params: Any, measured: Any, place: int, steps: list[dict[str, Any]], first: int
) -> Record:
    counters = {
        counter: (unit, [step[counter][1] for step in steps])
        for counter, (unit, _) in steps[0].items()
    }
    variant = label(getattr(params, "variant", Variant.V6_12))
    found = table(name, variant, "kernel", counters, first=first)
    return Record(found, measured.provenance(name, params.model_dump(mode="json"), place))
