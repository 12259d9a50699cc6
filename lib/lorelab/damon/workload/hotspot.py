"""The program of `damon/hotspot`, and its counters."""

from typing import NamedTuple

import numpy as np

from lorelab.damon.params import Hotspot
from lorelab.damon.workload import masim
from lorelab.errors import BadInput
from lorelab.numerics import PAGE

NAME = "damon/hotspot"

HUGE = 2 << 20

HUGE_KIB = 64 << 10

FOREVER_MS = 10**9


def check(params: Hotspot) -> None:
    """BadInput where the hot range is not a small part."""
    if params.hot_kib << 10 > params.mib << 19:
        raise BadInput(f"hot_kib={params.hot_kib}: takes at most half of mib={params.mib}")


def huge(params: Hotspot) -> bool:
    """Whether the hot range is in huge pages."""
    return params.hot_kib >= HUGE_KIB


def program(params: Hotspot) -> masim.Config:
    """A program that goes round the middle of its memory, for longer than anybody watches."""
    hot, stride = params.hot_kib << 10, HUGE if huge(params) else PAGE
    side = ((params.mib << 20) - hot) // 2 // PAGE * PAGE
    access = masim.Access("hot", False, stride, 1)
    sizes = {"above": side, "hot": hot, "below": side}
    return masim.Config(sizes, (masim.Phase("steady", FOREVER_MS, (access,)),))


class Outcome(NamedTuple):
    """What a run came to, up to the window that told the hot range apart."""

    wait: int
    """That window, from 1, in which regions of at most twice its size cover half of it or more;
    0 where none did."""
    regions: float
    """Mean number of regions reported."""
    in_three: float
    """Share of the windows before it that ended with a cut in three."""


def counted(params: Hotspot, outcomes: list[Outcome]) -> dict[str, tuple[str, list[float]]]:
    """Counters of runs: by window the share of them that is over; by run the rest."""
    waits = [run.wait or params.windows + 1 for run in outcomes]
    steps = np.arange(1, params.windows + 1)
    share = (np.array(waits)[:, None] <= steps).mean(axis=0)
    return {
        "isolated": ("share", list(share)),
        "wait": ("windows", waits),
        "nr_regions": ("regions", [run.regions for run in outcomes]),
        "in_three": ("share", [run.in_three for run in outcomes]),
    }
