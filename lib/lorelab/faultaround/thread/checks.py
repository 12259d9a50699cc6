"""What the claims are weighed against: the model's functions, and recorded runs.

The model counts faults of the mapping alone; the printed figures have all of a program.
"""

from functools import cache

import numpy as np

from lorelab.experiments import experiment
from lorelab.faultaround.model.memory import read
from lorelab.faultaround.params import Faults
from lorelab.faultaround.workload import cached, reads
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
def faults(order: int, **fields: object) -> int:
    """Faults in the model, of a mapping that may be larger than the experiment takes."""
    params = Faults.model_construct(**fields)
    return len(read(reads(params), cached(params), ZERO, ONE << U(order)))


def against_print(workload: str, **fields: object) -> dict[str, tuple[int, int]]:
    """Faults by printed column: the model's, and the thread's."""
    table = threads.figures("faultaround")["value"]
    return {
        column: (faults(order, **fields), int(table[f"{workload}-{column}"]))
        for column, order in ORDERS.items()
    }


def recorded(**fields: object) -> dict[str, np.ndarray]:
    """A recorded run: of each counter its values, fault by fault."""
    rows = experiment("faultaround/faults").recorded(Faults(**fields)).counters
    return {counter: part.to_numpy() for counter, part in rows.groupby("counter")["value"]}


def _said(both: dict[str, tuple[int, int]]) -> dict[str, object]:
    return {
        f"order {name}": f"{printed:,} (model {model:,})" for name, (model, printed) in both.items()
    }


def weigh_table(workload: str, **fields: object) -> Weighed:
    """A table of minor faults, by order."""
    both = against_print(workload, **fields)
    factors = {name: printed / model for name, (model, printed) in both.items()}
    more = [printed - model for model, printed in both.values()]
    why = f"The model has one fault per window; the print has {min(more):,} to {max(more):,} more."
    if off := [name for name, factor in factors.items() if factor > FACTOR]:
        why += (
            " Windows are aligned, so the order of the reads changes nothing in the model; at "
            f"order {', '.join(off)} it is off by more than a factor of {FACTOR:g}."
        )
    near = all(0 <= factor - 1 < SAME for factor in factors.values())
    verdict = ClaimVerdict.HOLDS if near else ClaimVerdict.OTHER_NUMBER
    return Weighed(verdict, why, _said(both))


def weigh_useless() -> Weighed:
    apart = int(threads.figure("faultaround", "worst-distance") * MIB)
    both = against_print("one-a-table", pages=16 * GIB, stride=apart)
    same = {model for model, _ in both.values()}
    runs = {order: recorded(pages=4096, stride=512, order=order) for order in ORDERS.values()}
    holds = len(same) == 1 and {len(run["page"]) for run in runs.values()} == {8}
    verdict = ClaimVerdict.HOLDS if holds else ClaimVerdict.CONTRADICTED
    mapped = {order: int(run["mapped"].sum()) for order, run in runs.items()}
    why = f"No order saves a fault, and at order 9 each maps {mapped[9] // 8} pages for one read."
    return Weighed(verdict, why, {**_said(both), "recorded, mapped for 8 reads": mapped})


def weigh_after_order_4() -> Weighed:
    both = against_print("sequential", pages=16 * GIB)
    why = (
        "The sentence is about time, which an emulator can't measure. The faults fall further: "
        "those at order 9 are a thirty-second of those at order 4."
    )
    both = {name: both[name] for name in ("4", "9")}
    return Weighed(ClaimVerdict.NOT_TESTABLE, why, _said(both), judgement=True)


def weigh_cache_lines() -> Weighed:
    aligned, shifted = recorded()["lines"], recorded(first=7)["lines"]
    three = np.flatnonzero(shifted > 2).tolist()
    why = (
        "Two at order 4, but three in the window at the start of a mapping that begins at an "
        "entry which is no multiple of 8: that window is not aligned."
    )
    evidence = {"most lines": {"first 0": int(aligned.max()), "first 7": int(shifted.max())}}
    verdict = ClaimVerdict.OTHER_NUMBER if three else ClaimVerdict.HOLDS
    return Weighed(verdict, why, evidence | {"faults with more than 2": three})
