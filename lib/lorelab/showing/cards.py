"""What the first page and the decks say of each design: its thread, its question, its records."""

from typing import NamedTuple

import pandas as pd

from lorelab.experiments import experiments
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


CARDS = {
    "swap": Card(
        "Swap-out small-sized THP without splitting",
        "https://lore.kernel.org/r/87pm0v8b32.fsf@yhuang6-desk2.ccr.corp.intel.com",
        "Ryan Roberts and Huang Ying, October 2023",
        "What does splitting a 64 KiB folio before swap-out cost, and does the allocator that "
        "avoids it survive fragmentation?",
    ),
    "damon": Card(
        "Introduce Data Access MONitor",
        "https://lore.kernel.org/r/20200309102345.13427-1-sjpark@amazon.com",
        "SeongJae Park, March 2020",
        "How near can one sampled page a region come to knowing which memory is hot, at a cost "
        "that does not grow with memory?",
    ),
    "vmalock": Card(
        "Per-VMA locks",
        "https://lore.kernel.org/r/20230127194110.533103-1-surenb@google.com",
        "Suren Baghdasaryan, January 2023",
        "Can a page fault do without `mmap_lock`, and what does a writer pay for it?",
    ),
    "gso": Card(
        "Zero-copy GSO without orphaning the fragments",
        "",
        "Igor Royzis, Anton Nayshtut, Michael S. Tsirkin, Eric Dumazet, June 2014",
        "When may the sender reuse its pages once a packet has been cut into segments?",
    ),
    "fairzone": Card(
        "Reset fair zone allocation policy only when batch counts are expired",
        "",
        "Mel Gorman and Johannes Weiner, May 2014",
        "When should the allocator reset the counters that spread allocations over zones?",
    ),
}


def totals() -> pd.DataFrame:
    """Recorded kernel runs by design; the last row is all.

    Returns
    -------
    DataFrame
        Columns `experiments`, `runs`, `boots` (machines started for them) and `counters`.
    """
    found = _runs().groupby("design", sort=False)
    counted = found.agg(
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
    found = _runs().groupby(keys, sort=False)
    return found.agg(
        runs=("counters", "size"),
        boots=("boots", "sum"),
        first=("day", "min"),
        last=("day", "max"),
    ).reset_index()


def _runs() -> pd.DataFrame:
    """A row for each recorded run; of those that share a boot the first counts it."""
    rows, booted, known = [], set(), experiments()
    for design in CARDS:
        for file in sorted((records.FOLDER / design).glob("*/*.csv")):
            source = records.unseal(file.with_suffix(".json")).provenance
            kernel = source.kernel
            params = known[source.experiment].Params.of_record(source.params)
            rows.append(
                {
                    "design": design,
                    "experiment": file.parent.name,
                    "counters": len(params.measured(pd.read_csv(file))),
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
