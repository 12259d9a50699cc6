"""Gains that others measured, beside those of the same loop in the performance model.

A record of `ebizzy -m` is an mmap(), the first touch of its pages, and a munmap(), by twice as many
threads as CPUs. These are of `-R`, where the size is to be random; ebizzy 0.3 multiplies a state of
0, so that it is a single page.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.vmalock.experiments import contention
from lorelab.vmalock.model.state import COUNT, FAULT, WRITE
from lorelab.vmalock.params import Contention, Timed, Variant
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


PUBLISHED = (
    Published("per-VMA locks, Kefeng Wang", Variant.V2, 2, 1, 25),
    Published("per-VMA locks, Jisheng Zhang", Variant.V2, 4, 1, 33),
)
"""Of ebizzy. What Laurent Dufour's SPF v10 gained in it is not here: that SPF counts the changes of
each VMA, and the model's, of 2022, those of the process."""
PFT = {
    "v2, one VMA, Punit Agrawal": {
        1: -0.50, 4: -9.51, 7: -6.10, 12: -2.81, 21: 2.18, 30: 5.45, 48: 16.43, 79: 20.41,
        110: 24.72, 128: 21.90,
    },
    "v2, a VMA per thread, Punit Agrawal": {
        1: -2.02, 4: 5.34, 7: 18.09, 12: 23.74, 21: 31.15, 30: 37.63, 48: 50.88, 79: 92.64,
        110: 133.17, 128: 157.18,
    },
    "v10 of the count over mm-unstable, its letter": {
        1: -0.28, 4: 0.34, 7: 1.10, 12: 1.26, 21: 14.77, 30: 10.26, 48: 10.98, 56: 10.85,
    },
    "v10 of the count over mm-unstable, Shivank Garg": {
        1: 0.88, 4: -8.67, 7: -3.20, 12: -1.70, 21: -1.37, 30: -0.14, 48: 15.90, 79: 26.58,
        110: 21.58, 128: 26.17,
    },
}  # fmt: skip
"""What each gained in pft of mmtests, faults a second by threads [%], in one VMA if not said
otherwise. Of 87r0uqq1f9.fsf@stealth, 87fsaqouyd.fsf_-_@stealth, 20250213224655.1680278-1-surenb@
google.com, 5e19ec93-8307-47c2-bb13-3ddf7150624e@amd.com; v2 is over mm-unstable-20230210.
"""
MODELLED = {"v2, one VMA, Punit Agrawal": False, "v2, a VMA per thread, Punit Agrawal": True}
"""Those of `PFT` that the model runs, too, and whether each thread has a VMA of its own."""


def records_done(of: Published, variant: Variant, per_page: int, ms: int) -> float:
    """Writers that ebizzy's threads get done, two a record, under a variant."""
    params = Timed(cpus=of.cpus, variant=variant)
    unmap = of.pages * per_page // params.per_ns
    hold = ns("mmap", params)
    threads = []
    for t in range(2 * of.cpus):
        touch = operation(FAULT, vma=t, body=body(params), think=TOUCH_NS)
        threads.append(
            Thread(
                [
                    operation(WRITE, vma=t, marks=1, hold=hold, fresh=1),
                    *[touch] * of.pages,
                    operation(WRITE, vma=t, marks=1, hold=hold, tail=unmap),
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
        misses = max(_misses(gain, published) for gain in gains)
        rows.append((of.whose, of.cpus, of.pages, published, min(gains), max(gains), misses))
    columns = ["whose", "CPUs", "pages", "published", "least", "most", "within"]
    return pd.DataFrame(rows, columns=columns).set_index("whose")


def pft(ms: int = 2) -> pd.DataFrame:
    """`PFT`, and v2 over mmap_lock in the model: threads that only fault.

    Returns
    -------
    DataFrame
        By threads, and CPUs in the model: for each of `PFT` the rate over that of the kernel
        before, as `published`; for those `MODELLED` the `model`'s, and `within`: by what factor it
        misses. The model charges 6.12's lock and 7.3's alike.
    """
    columns = {}
    for whose, gains in PFT.items():
        published = columns[whose, "published"] = pd.Series(gains) / 100 + 1
        if whose in MODELLED:
            model = pd.Series({n: _pft_gain(n, n if MODELLED[whose] else 1, ms) for n in gains})
            columns[whose, "model"] = model
            columns[whose, "within"] = _misses(model, published)
    return pd.DataFrame(columns).sort_index().rename_axis("threads")


def _pft_gain(threads: int, vmas: int, ms: int) -> float:
    shared = {"cpus": threads, "threads": threads, "vmas": vmas, "ms": ms}
    rates = []
    for variant in (Variant.V2, Variant.MMAP_LOCK):
        params = Contention(variant=variant, writer_share=0, think_ns=TOUCH_NS, **shared)
        counters = contention.simulate(params).set_index("counter")["value"]
        rates.append(float(counters["fault_rate"]))
    return rates[0] / rates[1]


def _misses(model: float | pd.Series, published: float | pd.Series) -> float | pd.Series:
    """By what factor the model is off, either way."""
    return np.maximum(model / published, published / model)
