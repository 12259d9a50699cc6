"""`damon/schemes`: the thread's schemes in their own notation, and what they do to a program.

A scheme is a line: minimum and maximum of size, of frequency in percent, of age, and an action.

    # ethp: huge pages for regions of 2 MB and more with at least 5 % of the samples
    2M null    5 null    null null    hugepage

Linux 6.12 takes counts of samples and of windows, so 5 % of 20 samples is a count of 1, and 1 s
is an age of 10 windows. Both are rounded down.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.model.damos import Action
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.model.memory import HUGE, RESIDENT, SWAPPED, Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.params import ALONE, Schemes, Speeds, runs
from lorelab.damon.workload import masim
from lorelab.damon.workload.masim import VVAR
from lorelab.damon.workload.schemes import BUILTIN, STATISTICS, parse
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.errors import BadInput
from lorelab.numerics import PAGE
from lorelab.params import label
from lorelab.progress import track


def simulate(params: Schemes, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Simulate `damon/schemes`.

    Returns
    -------
    DataFrame
        A step a run: bytes of the program's regions, and of those resident (mean over windows),
        swapped and mapped huge (at the end); pages out, refaults, huge faults, collapses, split
        PMDs; of each scheme its statistics; windows, and regions (mean over windows).

    Raises
    ------
    BadInput
        No window ends while the program runs.
    """
    length = masim.seconds(configuration(params))
    if params.aggr_us >= length * 1e6:
        raise BadInput(f"aggr_us={params.aggr_us}: {_too_long(length)}")
    columns: dict[str, tuple[str, list[float]]] = {}
    for each in runs(params):
        memory = float(sum(configuration(each).regions.values()))
        columns.setdefault("runs", ("runs", []))[1].append(1.0)
        columns.setdefault("memory", ("bytes", []))[1].append(memory)
        states, regions = [], []
        for ctx, pages, nr in windows(each, speeds):
            states.append(state(ctx, pages))
            regions.append(nr)
        if not states:
            raise BadInput(
                f"aggr_us={params.aggr_us} sample_us={params.sample_us}: {_too_long(length)}"
            )
        columns.setdefault("windows", ("windows", []))[1].append(len(regions))
        columns.setdefault("nr_regions_mean", ("regions", []))[1].append(float(np.mean(regions)))
        resident = float(np.mean([one["resident"][1] for one in states]))
        columns.setdefault("resident_mean", ("bytes", []))[1].append(resident)
        for name, (unit, value) in states[-1].items():
            if name != "resident":
                columns.setdefault(name, (unit, []))[1].append(value)
    return counters.table("damon/schemes", label(params.variant), "model", columns)


def _too_long(length: float) -> str:
    return f"no window ends in the {length:g} s that the program runs; take a shorter one"


def windows(
    params: Schemes, speeds: Speeds, recorded: tuple[bool, ...] = ()
) -> Iterator[tuple[Damon, Pages, int]]:
    """Context and memory after each window that ended while the program ran, and its regions.

    `recorded` answers checks; where it has no more answers, they find no access.
    """
    pages = memory(params, configuration(params), speeds, memory=True, recorded=recorded)
    table = parse(BUILTIN.get(params.schemes, params.schemes), params)
    ctx = context(params, pages, schemes=table)
    if (table["action"] == Action.PAGEOUT).any():
        # madvise() fails there (-EINVAL, can_madv_lru_vma()), as it does where nothing is mapped.
        below, above = pages.vmas.copy(), pages.vmas.copy()
        below[:, 2] = np.minimum(below[:, 2], VVAR[0])
        above[:, 1] = np.maximum(above[:, 1], VVAR[1])
        parts = np.concatenate([below, above])
        pages = pages._replace(vmas=parts[parts[:, 1] < parts[:, 2]])
    phases, info = len(pages.phases), pages.info
    for phase in track(range(phases), "monitoring"):
        while info["phase"][0] <= phase:
            n = kdamond_window(ctx, pages)
            if info["begins"][0] < info["now"][0] and info["phase"][0] < phases:
                yield ctx, pages, n


def _bytes(pages: Pages, flag: np.uint8) -> float:
    return float(np.count_nonzero(pages.flags & flag)) * PAGE


def state(ctx: Damon, pages: Pages) -> dict[str, tuple[str, float]]:
    """Counters of a run so far, and what is resident, swapped and mapped huge now."""
    values = {
        name: ("bytes", _bytes(pages, flag))
        for name, flag in (("resident", RESIDENT), ("swapped", SWAPPED), ("huge", HUGE))
    }
    for name in ("paged_out", "refaults", "bloat"):
        values[name] = ("pages", float(pages.info[name][0]))
    for name in ("huge_faults", "collapses", "pmd_splits"):
        values[name] = ("huge pages", float(pages.info[name][0]))
    for n, s in enumerate(ctx.schemes):
        values |= {f"scheme{n}_{name}": (unit, float(s[name])) for name, unit in STATISTICS.items()}
    return values
