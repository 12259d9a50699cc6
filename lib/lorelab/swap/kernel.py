"""The swap experiments on a real kernel: an unmodified 6.12 with a zram device."""

from pathlib import Path

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import measure
from lorelab.params import label
from lorelab.swap.params import AllocatorTest, Variant

NAME = "swap/allocator-test"
TOOL_ITERATIONS = 100
"""Iterations of the loop in tools/mm/thp_swap_allocator_test.c; the tool takes no number."""
LARGEST_MIB = 16 * 1024
"""zram keeps 16 bytes a page and the swap map one, all in the guest's 2 GiB."""
SECONDS_A_RUN = 600.0
"""Some 20 s under emulation on an idle machine, 140 s on a host with a load of 14."""


def allocator_test(wanted: list[AllocatorTest], image: Path | None = None) -> list[Record]:
    """Run the kernel's tools/mm/thp_swap_allocator_test; runs alike in `large_swapin` share a boot.

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
    for large_swapin in (True, False):
        numbers = [i for i, params in enumerate(wanted) if params.large_swapin == large_swapin]
        if numbers:
            found = _boot([wanted[i] for i in numbers], large_swapin, image)
            records.update(zip(numbers, found, strict=True))
    return [records[i] for i in range(len(wanted))]


def check(params: AllocatorTest, own: bool = False) -> None:
    """Raise BadInput for what an unmodified 6.12, or a kernel of the reader's own, can't follow."""
    if params.variant != Variant.V6_12 and not own:
        raise BadInput(
            f"variant={label(params.variant)}: an unmodified 6.12 kernel only has v6.12; "
            "the model has the others, and --kernel takes one of your own"
        )
    for name in ("slot_cache", "free_cache", "batched_zap", "stealing"):
        if not getattr(params, name):
            raise BadInput(f"{name}=false: an unmodified kernel can't; only the model can")
    if params.iterations > TOOL_ITERATIONS:
        raise BadInput(
            f"iterations={params.iterations}: the kernel's tool does {TOOL_ITERATIONS}; only the "
            "model does more"
        )
    if params.device_mib > LARGEST_MIB:
        raise BadInput(
            f"device_mib={params.device_mib}: the guest has memory for a zram of {LARGEST_MIB} MiB"
        )


def _boot(wanted: list[AllocatorTest], large_swapin: bool, image: Path | None) -> list[Record]:
    runs = [
        params.model_dump(include={"options", "seed", "device_mib", "rotational"})
        for params in wanted
    ]
    job = Job(
        workload="swap_allocator_test",
        params={"large_swapin": large_swapin, "runs": runs},
        seconds=SECONDS_A_RUN * len(runs),
        rows=TOOL_ITERATIONS * len(runs),
    )
    measured = measure(Machine(cpus=1, memory_mib=2048), job, image)
    rows = pd.DataFrame(measured.rows)
    records = []
    for number, params in enumerate(wanted):
        mine = rows[rows["run"] == number].set_index("iteration").loc[: params.iterations]
        counters = table(
            NAME,
            label(params.variant),
            "kernel",
            {name: ("folios", mine[name].to_numpy()) for name in ("swpout", "swpout_fallback")},
        )
        given = params.model_dump(mode="json")
        records.append(Record(counters, measured.provenance(NAME, given, number + 1)))
    return records
