"""What the performance model assumes, from where, and what depends on it."""

from typing import NamedTuple

import pandas as pd

from lorelab.vmalock.experiments import contention
from lorelab.vmalock.pages.published import TOUCH_NS, UNMAP
from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload.costs import INSTRUCTIONS

RECORDED = ("fault", "duplicate")
"""Of `INSTRUCTIONS`, those that records of `vmalock/instructions` have."""
AGAINST = {
    "mmap_lock": Variant.MMAP_LOCK,
    "SPF": Variant.SPF,
    "a rwsem in each VMA": Variant.VMA_RWSEM,
}


class Assumption(NamedTuple):
    """A time that an emulator can't tell."""

    part: str
    source: str


TIMES = {
    "think_ns": Assumption("work between two operations", "chosen: the thread names no workload"),
    "per_ns": Assumption("instructions a ns", "chosen: 3 GHz, 1.3 instructions a cycle"),
    "local_ns": Assumption(
        "atomic operation on a line that the CPU has", "assumed; measured elsewhere: 12"
    ),
    "remote_ns": Assumption(
        "cache line that another CPU wrote", "assumed; measured elsewhere: 44 to 115, one socket"
    ),
    "wake_ns": Assumption(
        "waking a task", "assumed; measured in a guest: 1,395 with a switch and system calls"
    ),
    "start_ns": Assumption(
        "start of a task that was woken",
        "assumed; measured in a guest: 3,900 with waking and system calls",
    ),
    "switch_ns": Assumption("switch to the next task", "assumed: see waking a task"),
}
"""By parameter. What was measured of the last three are messages through a pipe: each is a wake-up,
a switch where both tasks have one CPU, a start where each has its own, and system calls. What else
takes time is instructions, or a constant of the kernel: 4 ms until a handoff, 3 ms of a slice.
"""


def assumed(params: Contention) -> pd.DataFrame:
    """What each part costs: instructions of the kernel, and times that no emulator knows.

    Returns
    -------
    DataFrame
        `part`, `value`, `unit`, and `source`: measured, estimated, or how a time was assumed.
    """
    rows = [
        (name, number, "instructions", "measured" if name in RECORDED else "estimated")
        for name, number in INSTRUCTIONS.items()
    ]
    rows += [
        (time.part, getattr(params, name), "" if name == "per_ns" else "ns", time.source)
        for name, time in TIMES.items()
    ]
    per_page = " to ".join(f"{number:,}" for number in UNMAP)
    rows += [
        ("a touch of a page, of ebizzy and pft", TOUCH_NS, "ns", "assumed: no measurement"),
        ("a page that munmap() frees, of ebizzy", per_page, "instructions", "assumed: a range"),
    ]
    return pd.DataFrame(rows, columns=["part", "value", "unit", "source"])


def sensitivity(cpus: int = 64, writer_share: float = 0.01, ms: int = 5) -> pd.DataFrame:
    """Faults a second under 6.12's lock over those of others, at half and at twice each time.

    Returns
    -------
    DataFrame
        By parameter of `TIMES`, and as all are by default: least and most of the ratio to each of
        `AGAINST`, over the default, half of it and twice as much.
    """
    base = Contention(cpus=cpus, threads=cpus, vmas=cpus, writer_share=writer_share, ms=ms)
    default = _ratios(base)
    rows = {"all as they are": [default]}
    for time in TIMES:
        value = getattr(base, time)
        moved = (base.model_copy(update={time: other}) for other in (value // 2, 2 * value))
        rows[time] = [default, *map(_ratios, moved)]
    ends = {"least": min, "most": max}
    columns = {
        time: {
            (name, end): pick(ratios[name] for ratios in several)
            for name in AGAINST
            for end, pick in ends.items()
        }
        for time, several in rows.items()
    }
    return pd.DataFrame(columns).T.rename_axis("half and twice")


def _ratios(params: Contention) -> dict[str, float]:
    ours = _rate(params, Variant.V6_12)
    return {name: ours / _rate(params, other) for name, other in AGAINST.items()}


def _rate(params: Contention, variant: Variant) -> float:
    counters = contention.simulate(params.model_copy(update={"variant": variant}))
    return float(counters.set_index("counter").loc["fault_rate", "value"])
