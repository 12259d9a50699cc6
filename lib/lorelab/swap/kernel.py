"""The swap experiments on a real kernel: 6.12 with a zram device.

What an unmodified kernel can follow runs on one. For the rest, switches of lib/kernel/patches are
turned on the laboratory's own.
"""

from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import probes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Measured, measure
from lorelab.params import label
from lorelab.swap.params import (
    TOOL_ITERATIONS,
    AllocatorTest,
    AllocMode,
    Switches,
    Variant,
    check_paths,
)
from lorelab.swap.switches import in_turns, settings
from lorelab.swap.workload import rand_calls

NAME = "swap/allocator-test"
PATHS = "swap/paths"
SWITCHED = "swap/switches"
PROBED = "swap/probed"
PROBES = ("swap_alloc", "swap_reuse")
PLACES = ("current", "free", "nonfull", "frag", "steal")
LARGEST_MIB = 16 * 1024
"""zram keeps 16 bytes a page and the swap map one, all in the guest's 2 GiB."""
MOST_CPUS = 8
SECONDS_A_RUN = 600.0
"""Some 20 s under emulation on an idle machine, 140 s on a host with a load of 14."""
PROBED_SECONDS = 1200.0
"""Longer, for a probe replays each search of a cluster: 200 s on a host with a load of 10."""
SWITCHES = {
    "stealing": "swap/steal",
    "slot_cache": "swap/slot_cache",
    "free_cache": "swap/free_cache",
}
"""What turns a parameter that is false "off"."""


def allocator_test(wanted: list[AllocatorTest], image: Path | None = None) -> list[Record]:
    """Run the kernel's tools/mm/thp_swap_allocator_test; runs that can share a boot do.

    The device is zram0 with lzo, 64 KiB folios are `always`, all other sizes `never`, as the
    tool's header says; ample memory, so that nothing but the tool swaps. Each run gets a fresh
    device. On several CPUs the tool stays on one, or moves when it is told to.

    Parameters
    ----------
    wanted : list of AllocatorTest
    image : Path, optional
        bzImage of the reader's own; the reader then says which `variant` it has.

    Returns
    -------
    list of Record
        As asked: counters `swpout` and `swpout_fallback` (folios) of each iteration.

    Raises
    ------
    BadInput
        The kernel can't follow a parameter, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        check(params, own=image is not None)
    records: dict[int, Record] = {}

    def kind(number: int) -> tuple[int, bool, bool]:
        params = wanted[number]
        patched = bool(switches(params))
        # Large swap-in, once off on an unmodified kernel, stays off; a switch goes both ways.
        return params.cpus, patched, not (patched or params.large_swapin)

    for (_, patched, zswap_once), group in groupby(sorted(range(len(wanted)), key=kind), key=kind):
        numbers = list(group)
        runs = [wanted[i] for i in numbers]
        measured = boot(runs, [_turned(p, patched) for p in runs], zswap_once, image)
        found = [_iterations(params, _rows(i, measured)) for i, params in enumerate(runs)]
        records.update(zip(numbers, _records(NAME, runs, found, measured), strict=True))
    return [records[i] for i in range(len(wanted))]


def paths(wanted: list[AllocatorTest], image: Path | None = None) -> list[Record]:
    """Run the same on a kernel with lib/kernel/patches, and read what served its allocations.

    Parameters
    ----------
    wanted, image
        As for `allocator_test`.

    Returns
    -------
    list of Record
        As asked: totals of the run by path and order (see `lorelab.swap.workload.paths`).

    Raises
    ------
    BadInput, RunFailed
        As `allocator_test`.
    """
    for params in wanted:
        _check_totals(params, own=image is not None)
    records: dict[int, Record] = {}

    def cpus(number: int) -> int:
        return wanted[number].cpus

    for _, group in groupby(sorted(range(len(wanted)), key=cpus), key=cpus):
        numbers = list(group)
        runs = [wanted[i] for i in numbers]
        measured = boot(runs, [counted(params) for params in runs], False, image)
        found = [totals(params, _rows(i, measured)) for i, params in enumerate(runs)]
        records.update(zip(numbers, _records(PATHS, runs, found, measured), strict=True))
    return [records[i] for i in range(len(wanted))]


def switched(wanted: list[Switches], image: Path | None = None) -> list[Record]:
    """Run the same under all `SETTINGS` of `lorelab.swap.switches`, in turns; a boot for each.

    Parameters
    ----------
    wanted : list of Switches
    image : Path, optional
        bzImage of the reader's own.

    Returns
    -------
    list of Record
        As asked: both what `allocator_test` and what `paths` counts, laid out by `in_turns`.

    Raises
    ------
    BadInput, RunFailed
        As `paths`.
    """
    tests = [settings(params) for params in wanted]
    for test in (test for named in tests for test in named.values()):
        _check_totals(test, own=image is not None)
    return [_in_turns(params, named, image) for params, named in zip(wanted, tests, strict=True)]


def probed(wanted: list[AllocatorTest], image: Path | None = None) -> list[Record]:
    """Run the same with probes that see what `paths` takes a patch for; a boot for each run.

    Parameters
    ----------
    wanted, image
        As for `allocator_test`.

    Returns
    -------
    list of Record
        As asked: counters and histograms of `lorelab.swap.workload.probed`.

    Raises
    ------
    BadInput, RunFailed
        As `paths`; RunFailed also when a probe missed something.
    """
    for params in wanted:
        _check_totals(params, own=image is not None)
    return [_probed(params, image) for params in wanted]


def switches(params: AllocatorTest) -> dict[str, str]:
    """Switches of lib/kernel/patches that only a patched kernel can follow, and their choice."""
    turned = {}
    if params.alloc_mode != AllocMode.UPSTREAM:
        turned["swap/alloc_mode"] = label(params.alloc_mode)
    for name, switch in SWITCHES.items():
        if not getattr(params, name):
            turned[switch] = "off"
    return turned


def check(params: AllocatorTest, own: bool = False) -> None:
    """Raise BadInput for what no 6.12, or no kernel of the reader's own, can follow."""
    if params.variant != Variant.V6_12 and not own:
        raise BadInput(
            f"variant={label(params.variant)}: the laboratory's kernel is a v6.12, whose "
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
    if params.cpus > MOST_CPUS:
        raise BadInput(f"cpus={params.cpus}: the guest has up to {MOST_CPUS}")
    if params.device_mib > LARGEST_MIB:
        raise BadInput(
            f"device_mib={params.device_mib}: the guest has memory for a zram of {LARGEST_MIB} MiB"
        )


def _check_totals(params: AllocatorTest, own: bool) -> None:
    check(params, own)
    check_paths(params)


def _turned(params: AllocatorTest, patched: bool) -> dict[str, str]:
    off = {"swap/large_swapin": "off"} if patched and not params.large_swapin else {}
    return switches(params) | off


def counted(params: AllocatorTest) -> dict[str, str]:
    """Switches of a run on the patched kernel that counts its paths."""
    return {**_turned(params, True), "swap/count": "on"}


def boot(
    wanted: list[AllocatorTest],
    turned: list[dict[str, str]],
    zswap_once: bool,
    image: Path | None,
    watching: tuple[str, ...] = (),
    turns: int = 1,
    scheduled: bool = False,
) -> Measured:
    """Boot once for runs of as many CPUs, and do all of them once a turn.

    `turned` has the switches of each, by name; where `scheduled`, the test's CPU is up to the
    kernel's scheduler.
    """
    runs = [
        {"switches": chosen}
        | params.model_dump(include={"options", "seed", "device_mib", "rotational", "move_every"})
        | {"calls": params.iterations * rand_calls(params.options)}
        | ({"move_every": None} if scheduled else {})
        for params, chosen in zip(wanted, turned, strict=True)
    ]
    job = Job(
        workload="swap_allocator_test",
        params={"zswap_once": zswap_once, "turns": turns, "runs": runs},
        seconds=(PROBED_SECONDS if watching else SECONDS_A_RUN) * len(runs) * turns,
        rows=turns
        * sum(
            params.iterations + scheduled + ("swap/count" in chosen)
            for params, chosen in zip(wanted, turned, strict=True)
        ),
        probes=watching,
    )
    machine = Machine(cpus=wanted[0].cpus, memory_mib=2048)
    return measure(machine, job, image, patched=any(turned))


def _iterations(params: AllocatorTest, rows: list[dict[str, Any]]) -> pd.DataFrame:
    mine = [row for row in rows if "iteration" in row]
    counters = {
        name: ("folios", [row[name] for row in mine]) for name in ("swpout", "swpout_fallback")
    }
    return table(NAME, label(params.variant), "kernel", counters)


def totals(params: AllocatorTest, rows: list[dict[str, Any]]) -> pd.DataFrame:
    [said] = (row["counters"] for row in rows if "counters" in row)
    counters = {}
    for order in (0, 4):
        for name in (*PLACES, "fail"):
            counters[f"{name}_{order}"] = ("allocations", [said[f"{name} {order}"]])
        for name, unit in (("visited", "clusters"), ("scanned", "slots")):
            counters[f"{name}_{order}"] = (unit, [said[f"{name} {order}"]])
    return table(PATHS, label(params.variant), "kernel", counters, first=0)


def _in_turns(params: Switches, named: dict[str, AllocatorTest], image: Path | None) -> Record:
    tests = list(named.values())
    turned = [counted(test) for test in tests]
    measured = boot(tests, turned, False, image, turns=params.turns)
    found = in_turns(
        params.iterations,
        (
            (turn, setting, told(test, _rows(number, measured, turn)))
            for turn in range(params.turns)
            for number, (setting, test) in enumerate(named.items())
            for told in (_iterations, totals)
        ),
    )
    return Record(found, measured.provenance(SWITCHED, params.model_dump(mode="json")))


def _probed(params: AllocatorTest, image: Path | None) -> Record:
    patched = bool(switches(params))
    measured = boot(
        [params], [_turned(params, patched)], not (patched or params.large_swapin), image, PROBES
    )
    if missed := probes.lost(measured.probes):
        raise RunFailed(f"{PROBED}: probes missed events, so that nothing is whole: {missed}")
    variant = label(params.variant)
    said = probes.counters(PROBED, variant, measured.probes)
    said["counter"] = said["counter"].str.replace(r".*\.(by_)?", "", regex=True)
    scalars = said.loc[said["step"] == 0].set_index("counter")["value"]
    totals = {}
    for order in (0, 4):
        for name in (*PLACES, "failed", "visited", "scanned"):
            unit = {"visited": "clusters", "scanned": "slots"}.get(name, "allocations")
            counter = f"{name}_{order}".replace("failed", "fail")
            totals[counter] = (unit, [int(scalars.get(f"{name}_{order}", 0))])
    parts = [table(PROBED, variant, "kernel", totals, first=0)]
    for order in (0, 4):
        for name in ("read", "swapouts"):
            parts.append(said[said["counter"] == f"{name}_{order}"].sort_values("step"))
    found = pd.concat(parts, ignore_index=True)
    return Record(found, measured.provenance(PROBED, params.model_dump(mode="json")))


def _rows(number: int, measured: Measured, turn: int = 0) -> list[dict[str, Any]]:
    return [row for row in measured.rows if row["run"] == number and row["turn"] == turn]


def _records(
    name: str, wanted: list[AllocatorTest], found: list[pd.DataFrame], measured: Measured
) -> list[Record]:
    """Counters of each run of a boot, in order, with their provenance."""
    return [
        Record(counters, measured.provenance(name, params.model_dump(mode="json"), number + 1))
        for number, (params, counters) in enumerate(zip(wanted, found, strict=True))
    ]
