"""The swap experiments on a real kernel: 6.12 with a zram device.

What an unmodified kernel can follow runs on one. For the rest, switches of lib/kernel/patches are
turned on the laboratory's own.
"""

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
from lorelab.swap.params import AllocatorTest, AllocMode, Variant, check_paths

NAME = "swap/allocator-test"
PATHS = "swap/paths"
PROBED = "swap/probed"
PROBES = ("swap_alloc", "swap_reuse")
PLACES = ("current", "free", "nonfull", "frag", "steal")
TOOL_ITERATIONS = 100
"""Iterations of the loop in tools/mm/thp_swap_allocator_test.c; the tool takes no number."""
LARGEST_MIB = 16 * 1024
"""zram keeps 16 bytes a page and the swap map one, all in the guest's 2 GiB."""
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
    tool's header says; one CPU and ample memory, so that nothing but the tool swaps. Each run
    gets a fresh device.

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
    # Large swap-in, once off on an unmodified kernel, stays off; a switch goes both ways.
    for patched, large_swapin in ((False, True), (False, False), (True, None)):
        numbers = [
            i
            for i, params in enumerate(wanted)
            if bool(switches(params)) == patched and large_swapin in (params.large_swapin, None)
        ]
        if numbers:
            runs = [wanted[i] for i in numbers]
            zswap_once = large_swapin is False
            measured = _boot(runs, [_turned(p, patched) for p in runs], zswap_once, image)
            found = [_iterations(params, i, measured) for i, params in enumerate(runs)]
            records.update(zip(numbers, found, strict=True))
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
        As `allocator_test`; the tool always runs all its iterations.
    """
    for params in wanted:
        _check_totals(params, own=image is not None)
    turned = [{**_turned(params, True), "swap/count": "on"} for params in wanted]
    measured = _boot(wanted, turned, False, image)
    return [_totals(params, number, measured) for number, params in enumerate(wanted)]


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
    if params.device_mib > LARGEST_MIB:
        raise BadInput(
            f"device_mib={params.device_mib}: the guest has memory for a zram of {LARGEST_MIB} MiB"
        )


def _check_totals(params: AllocatorTest, own: bool) -> None:
    check(params, own)
    check_paths(params)
    if params.iterations != TOOL_ITERATIONS:
        raise BadInput(
            f"iterations={params.iterations}: paths are totals of a run, and the kernel's "
            f"tool does {TOOL_ITERATIONS}"
        )


def _turned(params: AllocatorTest, patched: bool) -> dict[str, str]:
    off = {"swap/large_swapin": "off"} if patched and not params.large_swapin else {}
    return switches(params) | off


def _boot(
    wanted: list[AllocatorTest],
    turned: list[dict[str, str]],
    zswap_once: bool,
    image: Path | None,
    watching: tuple[str, ...] = (),
) -> Measured:
    runs = [
        {"switches": choices}
        | params.model_dump(include={"options", "seed", "device_mib", "rotational"})
        for params, choices in zip(wanted, turned, strict=True)
    ]
    job = Job(
        workload="swap_allocator_test",
        params={"zswap_once": zswap_once, "runs": runs},
        seconds=(PROBED_SECONDS if watching else SECONDS_A_RUN) * len(runs),
        rows=sum(TOOL_ITERATIONS + ("swap/count" in choices) for choices in turned),
        probes=watching,
    )
    machine = Machine(cpus=1, memory_mib=2048)
    return measure(machine, job, image, patched=any(turned))


def _iterations(params: AllocatorTest, number: int, measured: Measured) -> Record:
    mine = _rows(number, measured)[: params.iterations]
    counters = {
        name: ("folios", [row[name] for row in mine]) for name in ("swpout", "swpout_fallback")
    }
    found = table(NAME, label(params.variant), "kernel", counters)
    return Record(found, measured.provenance(NAME, params.model_dump(mode="json"), number + 1))


def _totals(params: AllocatorTest, number: int, measured: Measured) -> Record:
    [said] = (row["counters"] for row in _rows(number, measured) if "counters" in row)
    counters = {}
    for order in (0, 4):
        for name in (*PLACES, "fail"):
            counters[f"{name}_{order}"] = ("allocations", [said[f"{name} {order}"]])
        for name, unit in (("visited", "clusters"), ("scanned", "slots")):
            counters[f"{name}_{order}"] = (unit, [said[f"{name} {order}"]])
    found = table(PATHS, label(params.variant), "kernel", counters, first=0)
    return Record(found, measured.provenance(PATHS, params.model_dump(mode="json"), number + 1))


def _probed(params: AllocatorTest, image: Path | None) -> Record:
    patched = bool(switches(params))
    measured = _boot(
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


def _rows(number: int, measured: Measured) -> list[dict[str, Any]]:
    return [row for row in measured.rows if row["run"] == number]
