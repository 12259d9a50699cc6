"""Gains that others measured with ebizzy, beside those of its loop in the performance model.

A record of `ebizzy -m` is an mmap(), the first touch of its pages, and a munmap(), by twice as many
threads as CPUs. With `-R` the size is to be random; ebizzy 0.3 multiplies a state of 0, so that it
is a single page. Without, it is 64 * 1024 words of 8 bytes: 128 pages of 4 KiB.
"""

from typing import NamedTuple

import pandas as pd

from lorelab.vmalock.model.state import COUNT, FAULT, WRITE
from lorelab.vmalock.params import Timed, Variant
from lorelab.vmalock.workload.costs import body, ns
from lorelab.vmalock.workload.outcome import done
from lorelab.vmalock.workload.programs import Thread, operation, program_of

UNMAP = (250, 1000)
"""Instructions by which munmap() frees a page: not measured, so a range, from few to many."""
TOUCH_NS = 10
"""Of the program itself between two pages: a store, and a step of its loop [ns]."""


class Published(NamedTuple):
    """A gain in records a second over mmap_lock alone."""

    whose: str
    variant: Variant
    cpus: int
    pages: int
    gain: float
    """[%]"""
    downgrades: bool
    """munmap() frees pages under mmap_lock for reading, which it does since Linux 4.20."""


PUBLISHED = (
    Published("per-VMA locks, Kefeng Wang", Variant.V2, 2, 1, 25, True),
    Published("per-VMA locks, Jisheng Zhang", Variant.V2, 4, 1, 33, True),
    Published("SPF v10, Laurent Dufour, x86", Variant.SPF, 16, 128, 634, False),
    Published("SPF v10, Laurent Dufour, Power8", Variant.SPF, 80, 128, 101, False),
)


def records_done(of: Published, variant: Variant, per_page: int, ms: int) -> float:
    """Writers that ebizzy's threads get done, two a record, under a variant."""
    params = Timed(cpus=of.cpus, variant=variant)
    unmap = of.pages * per_page // params.per_ns
    hold = ns("mmap", params)
    threads = []
    for t in range(2 * of.cpus):
        touch = operation(FAULT, vma=t, body=body(params), think=TOUCH_NS)
        last = {"hold": hold, "tail": unmap} if of.downgrades else {"hold": hold + unmap}
        threads.append(
            Thread(
                [
                    operation(WRITE, vma=t, marks=1, hold=hold, fresh=1),
                    *[touch] * of.pages,
                    operation(WRITE, vma=t, marks=1, **last),
                ]
            )
        )
    machine = done(program_of(params, len(threads), threads, ms * 10**6))
    return float(machine.count[COUNT["writes"]] / machine.count[COUNT["last"]])


def beside(ms: int = 150) -> pd.DataFrame:
    """Published and modelled rates, each over that of mmap_lock alone.

    Returns
    -------
    DataFrame
        A row for each of `PUBLISHED`, by whose it is: `CPUs`, `pages` of a record, `published`, and
        the model's `least` and `most` over `UNMAP`; `within`: by what factor the farther of the two
        misses.
    """
    rows = []
    for of in PUBLISHED:
        published = 1 + of.gain / 100
        gains = [
            records_done(of, of.variant, per_page, ms)
            / records_done(of, Variant.MMAP_LOCK, per_page, ms)
            for per_page in UNMAP
        ]
        misses = max(max(gain / published, published / gain) for gain in gains)
        rows.append((of.whose, of.cpus, of.pages, published, min(gains), max(gains), misses))
    columns = ["whose", "CPUs", "pages", "published", "least", "most", "within"]
    return pd.DataFrame(rows, columns=columns).set_index("whose")
