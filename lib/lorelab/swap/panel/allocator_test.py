"""The panel of `swap/allocator-test`: the whole test, compiled for the reader's browser."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.numerics import njit
from lorelab.panel import progress
from lorelab.swap.model.state import setup
from lorelab.swap.pages import charts
from lorelab.swap.workload.allocator_test import STATS, begin, iterate, warm_up
from lorelab.swap.workload.task import on_first

CHOICES = {"options": ("", "-a", "-s", "-a -s")}
"""Values of parameters that are texts; compiled code has their numbers."""
ALIGNED = (1, 3)
SMALL_FOLIOS = (2, 3)
COUNTERS = {"swpout": "folios", "swpout_fallback": "folios"}
MORE = ()
FIRST = 1
"""Number of the first row."""
VARIANT = "variant"
"""The parameter that names what ran."""
RERUN = ("swap/model", ("options", "seed", "iterations", "device_mib", "large_swapin"))
"""A page that runs it, and which parameters it takes."""


@njit
def entry(params):
    """Run the test; a row for each iteration, a column for each of `COUNTERS`.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `AllocatorTest`.
    """
    p = params[0]
    si = setup(
        p.device_mib << 8,
        p.variant,
        p.cpus,
        p.slot_cache != 0,
        p.free_cache != 0,
        p.stealing != 0,
        p.rotational != 0,
        p.batched_zap != 0,
        p.alloc_mode,
    )
    task = on_first(p.cpus, p.move_every, np.zeros((0, 2), np.uint64))
    tool, seen = begin(
        len(si.swap_map),
        p.seed,
        p.options in ALIGNED,
        p.options in SMALL_FOLIOS,
        p.large_swapin != 0,
        p.tails_reversed != 0,
    )
    stats = np.zeros(1 + p.iterations, STATS)
    warm_up(si, task, tool, stats[:1], seen)
    counted = np.zeros((p.iterations, 2), np.uint64)
    for step in range(1, 1 + p.iterations):
        progress(step, p.iterations)
        iterate(si, task, tool, stats[step : step + 1], seen)
        counted[step - 1, 0] = stats[step].swpout
        counted[step - 1, 1] = stats[step].swpout_fallback
    return counted


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    return charts.fallback(table, see="Share of the 64 KiB folios of each iteration.")
