"""What the first page and the decks say of each design: its thread, its question, its records."""

from importlib import import_module
from typing import NamedTuple

import pandas as pd

from lorelab.experiments import designs
from lorelab.lab import records


class Card(NamedTuple):
    """What the first page, and the first slide of a deck, say of a design."""

    thread: str
    link: str
    """The message that began the thread."""
    who: str
    question: str

    @property
    def named(self) -> str:
        """The thread as Markdown, with its link where the archive has one."""
        return f"[{self.thread}]({self.link})" if self.link else self.thread


def card(design: str) -> Card:
    """The card of a design: `CARD` of `lorelab.DESIGN.thread.card`.

    Examples
    --------
    >>> card("gso").who.partition(",")[0]
    'Igor Royzis'
    """
    return import_module(f"lorelab.{design}.thread.card").CARD


def totals() -> pd.DataFrame:
    """Recorded kernel runs by design; the last row is all.

    Returns
    -------
    DataFrame
        Columns `experiments`, `runs`, `boots` (machines started for them) and `counters`.
    """
    runs = _runs().groupby("design", sort=False)
    counted = runs.agg(
        experiments=("experiment", "nunique"),
        runs=("counters", "size"),
        boots=("boots", "sum"),
        counters=("counters", "sum"),
    )
    counted.loc["all"] = counted.sum()
    return counted


def machines() -> pd.DataFrame:
    """Recorded kernel runs by design, kernel and machine: `runs`, `boots`, first and last day."""
    keys = ["design", "kernel", "patches", "config", "qemu", "accelerator", "icount"]
    runs = _runs().groupby(keys, sort=False)
    return runs.agg(
        runs=("counters", "size"),
        boots=("boots", "sum"),
        first=("day", "min"),
        last=("day", "max"),
    ).reset_index()


def _runs() -> pd.DataFrame:
    """A row for each recorded run; of those that share a boot the first counts it."""
    rows, booted = [], set()
    for design in designs():
        for file in sorted((records.FOLDER / design).glob("*/*.csv")):
            source = records.unseal(file.with_suffix(".json")).provenance
            kernel = source.kernel
            rows.append(
                {
                    "design": design,
                    "experiment": file.parent.name,
                    "counters": len(pd.read_csv(file)),
                    "kernel": kernel.release,
                    "patches": len(kernel.patches or ()),
                    "config": kernel.config or "its own",
                    "qemu": source.qemu.removeprefix("QEMU emulator version ").partition(" ")[0],
                    "accelerator": source.accelerator,
                    "icount": "on" if source.icount else "off",
                    "boots": 0 if source.date in booted else source.boots,
                    "day": f"{source.date:%Y-%m-%d}",
                }
            )
            booted.add(source.date)
    return pd.DataFrame(rows)
