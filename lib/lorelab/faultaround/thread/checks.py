"""What the claims are weighed against: the model's functions, and recorded runs.

Each `weigh_` function takes nothing and returns a `Weighed`. The model counts the faults of the
mapping and nothing else: what a program faults besides is in the printed figures alone.
"""

from functools import cache
from typing import Any

import numpy as np

from lorelab.experiments import experiment
from lorelab.faultaround.model.memory import do_fault_around, read
from lorelab.faultaround.params import Faults
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict, Weighed
from lorelab.numerics import ONE, ZERO, U

ORDERS = {"baseline": 0, "1": 1, "3": 3, "4": 4, "5": 5, "7": 7, "9": 9}
"""Columns of the printed tables; without fault-around is order 0."""
GIB, MIB = 1 << 18, 1 << 8
"""Pages."""
SAME, FACTOR = 0.02, 2.0
"""Part of the print that a program may fault besides; factor from which the model is off."""


@cache
def faults(size: int, order: int, stride: int = 1, random: bool = False) -> int:
    """Faults of reading every `stride`-th page of a mapping of `size` pages, all of them cached."""
    pages = np.arange(0, size, stride, dtype=np.uint64)
    if random:
        pages = np.random.Generator(np.random.PCG64(1)).permutation(pages)
    return len(read(pages, np.ones(size, np.bool_), ZERO, ONE << U(order)))


def against_print(workload: str, size: int, **fields: Any) -> dict[str, tuple[int, int]]:
    """Faults by printed column: the model's, and the thread's."""
    table = threads.figures("faultaround")["value"]
    return {
        column: (faults(size, order, **fields), int(table[f"{workload}-{column}"]))
        for column, order in ORDERS.items()
    }


def recorded(**fields: object) -> np.ndarray:
    """A recorded run: a row for each fault, its page, pages mapped and cache lines."""
    run = experiment("faultaround/faults").recorded(Faults(**fields))
    return run.counters.pivot_table(index="step", columns="counter", values="value")[
        ["page", "mapped", "lines"]
    ].to_numpy()


def _factors(both: dict[str, tuple[int, int]]) -> dict[str, float]:
    return {column: printed / model for column, (model, printed) in both.items()}


def _said(both: dict[str, tuple[int, int]]) -> dict[str, object]:
    return {
        f"order {name}": f"{printed:,} (model {model:,})" for name, (model, printed) in both.items()
    }


def weigh_sequential() -> Weighed:
    both = against_print("sequential", 16 * GIB)
    near = all(0 <= factor - 1 < SAME for factor in _factors(both).values())
    verdict = ClaimVerdict.HOLDS if near else ClaimVerdict.OTHER_NUMBER
    more = [printed - model for model, printed in both.values()]
    why = f"The model has one fault per window; the print has {min(more):,} to {max(more):,} more."
    return Weighed(verdict, why, _said(both))


def weigh_random() -> Weighed:
    both = against_print("random", GIB, random=True)
    factors = _factors(both)
    near = all(0 <= factor - 1 < SAME for factor in factors.values())
    off = [name for name, factor in factors.items() if factor > FACTOR]
    more = [printed - model for model, printed in both.values()]
    why = (
        f"Windows are aligned, so the order of the reads changes nothing in the model. The print "
        f"has {min(more):,} to {max(more):,} faults more, which no window explains; "
        f"at order {', '.join(off) or 'none'} the model is off by more than a factor of {FACTOR:g}."
    )
    verdict = ClaimVerdict.HOLDS if near else ClaimVerdict.OTHER_NUMBER
    return Weighed(verdict, why, _said(both))


def weigh_useless() -> Weighed:
    apart = int(threads.figure("faultaround", "worst-distance") * MIB)
    both = against_print("one-a-table", 16 * GIB, stride=apart)
    same = {model for model, _ in both.values()}
    kernel = {order: recorded(pages=4096, stride=512, order=order) for order in ORDERS.values()}
    holds = len(same) == 1 and all(len(run) == 8 for run in kernel.values())
    verdict = ClaimVerdict.HOLDS if holds else ClaimVerdict.CONTRADICTED
    mapped = {order: int(run[:, 1].sum()) for order, run in kernel.items()}
    why = f"No order saves a fault, and at order 9 each maps {mapped[9] // 8} pages for one read."
    return Weighed(verdict, why, {**_said(both), "recorded, mapped for 8 reads": mapped})


def weigh_after_order_4() -> Weighed:
    both = against_print("sequential", 16 * GIB)
    (four, printed_four), (nine, printed_nine) = both["4"], both["9"]
    why = (
        "The sentence is about time, which an emulator can't measure. The faults fall further: "
        "those at order 9 are a thirty-second of those at order 4."
    )
    evidence = {
        "model": f"{four:,} to {nine:,}",
        "printed": f"{printed_four:,} to {printed_nine:,}",
    }
    return Weighed(ClaimVerdict.NOT_TESTABLE, why, evidence, judgement=True)


def weigh_ppc64() -> Weighed:
    mib = 16 * 64 / 1024
    same = mib == threads.figure("faultaround", "ppc64")
    verdict = ClaimVerdict.ARITHMETIC if same else ClaimVerdict.CONTRADICTED
    return Weighed(verdict, "16 pages of 64 KiB.", {"MiB": mib})


def weigh_small_mappings() -> Weighed:
    """Read as: a fault maps nothing outside of the mapping, so one of a page maps that page."""
    outside = 0
    for size in map(U, range(1, 17)):
        for first in map(U, range(512)):
            last = min(size, U(512) - first)
            windows = [do_fault_around(first + n, n, size, U(16)) for n in map(U, range(last))]
            outside += sum(a < first or b >= first + size for a, b in windows)
    [alone] = recorded(pages=16, first=511)[:1, 1]
    verdict = ClaimVerdict.CONTRADICTED if outside else ClaimVerdict.HOLDS
    why = "No window leaves the mapping. One of 2 to 15 pages is still faulted around, whole."
    return Weighed(verdict, why, {"windows outside": outside, "recorded, last entry": alone})


def weigh_cache_lines() -> Weighed:
    aligned, shifted = recorded(), recorded(first=7)
    most = {"first 0": int(aligned[:, 2].max()), "first 7": int(shifted[:, 2].max())}
    three = np.flatnonzero(shifted[:, 2] > 2).tolist()
    within = most["first 7"] <= 2
    verdict = ClaimVerdict.HOLDS if within else ClaimVerdict.OTHER_NUMBER
    why = (
        "Two at order 4, but three in the window at the start of a mapping that begins at an "
        "entry which is no multiple of 8: that window is not aligned."
    )
    return Weighed(verdict, why, {"most lines": most, "faults with more than 2": three})
