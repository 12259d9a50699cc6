"""`swap/instructions` on a real kernel: the instructions of a swap-out, on either kernel."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.records import Record
from lorelab.lab.run import DEFAULTS, Measured, Measurement, Request, RunOptions
from lorelab.params import label
from lorelab.swap.kernel import boot
from lorelab.swap.kernel.swapout import reclaim, swap_mib
from lorelab.swap.params import KERNEL, Instructions

NAME = "swap/instructions"
REPEATS = 6
"""Of one boot."""
BOOTS = 2
"""Boots of each kernel: two differ by more than the repeats of one may."""
WARM_UP = 1
"""Rounds before those: the first one fills the kernel's caches."""


def _request(batch: list[Instructions]) -> Request:
    runs = [_and_in_again(reclaim(params)) for params in batch]
    rounds = boot.Rounds(
        runs,
        swap_mib(runs),
        REPEATS,
        warm_up=WARM_UP,
        instructions=True,
        patched=batch[0].series,
    )
    return boot.ram_disk(rounds)


def _and_in_again(run: boot.Reclaim) -> boot.Reclaim:
    return run._replace(steps=[*run.steps, "touch"])


def _counters(params: Instructions, measured: Measured, run: int) -> pd.DataFrame:
    """One step a repeat: `swapout` and `swapin` [instructions], `pages`."""
    rounds = boot.rounds_of(measured, run)[WARM_UP:]
    swapout, swapin = zip(*rounds, strict=True)
    columns = {
        "swapout": ("instructions", swapout),
        "swapin": ("instructions", swapin),
        "pages": ("pages", [params.folios << params.folio_order] * len(rounds)),
    }
    return table(NAME, label(KERNEL), "kernel", columns)


ONE_BOOT = Measurement(NAME, _request, _counters, machine=lambda params: params.series)


def measure(requested: list[Instructions], options: RunOptions = DEFAULTS) -> list[Record]:
    """Count the instructions of all CPUs while folios are swapped out, and in again.

    Those of each kernel take turns in `BOOTS` boots; an image of the reader's own stands for either
    kernel.

    Raises
    ------
    BadInput
        The laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    boots = [ONE_BOOT(requested, options) for _ in range(BOOTS)]
    return [pooled(list(records)) for records in zip(*boots, strict=True)]


def pooled(records: list[Record]) -> Record:
    """Repeats of several boots, on from boot to boot, with the provenance of the last."""
    tables, repeats = [], 0
    for record in records:
        tables.append(record.counters.assign(step=record.counters["step"] + repeats))
        repeats = tables[-1]["step"].max()
    counters = pd.concat(tables, ignore_index=True)
    # Counter by counter again, as `lorelab.counters.table` lays out.
    order = {name: place for place, name in enumerate(counters["counter"].unique())}
    counters = counters.sort_values("counter", key=lambda names: names.map(order), kind="stable")
    provenance = records[-1].provenance.model_copy(update={"boots": len(records)})
    frames = [frame for record in records for frame in record.probes]
    return Record(counters.reset_index(drop=True), provenance, frames)
