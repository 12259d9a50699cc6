"""kdamond's cycle around the first change of a program: what it counts, merges and splits."""

import copy

import numpy as np
import pandas as pd

from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.pages.views import regions
from lorelab.damon.params import Masim
from lorelab.damon.workload.setup import configuration, context, memory

STAGES = ("counted", "merged", "split")
MIB = 2**20


def around_change(params: Masim, before: int = 3, after: int = 6, mib: int = 20) -> pd.DataFrame:
    """Regions near the border of the program's highest region, window by window.

    Parameters
    ----------
    params : Masim
    before, after : int
        Windows that are shown before and after the one in which the first phase ends.
    mib : int
        How much of the address space is shown, on either side of the border.

    Returns
    -------
    DataFrame
        `window` (from 1), `stage` (of `STAGES`), `low` and `high` (MiB above the border), `count`.
        Counted are the accesses of a window, merged is what is reported of it, and split are the
        pieces that the next one samples, with the count reported of what each was cut from.
    """
    config = configuration(params)
    pages = memory(params, config)
    ctx = context(params, pages)
    border = int(pages.patterns["start"].max())
    change_ns = config.phases[0].ms * 10**6
    tables: list[pd.DataFrame] = []
    last = None
    while last is None or len(tables) < last:
        window = len(tables) + 1
        stages = zip(STAGES, _window(ctx, pages), strict=True)
        tables.append(pd.concat(rows.assign(window=window, stage=stage) for stage, rows in stages))
        if last is None and int(pages.info["now"][0]) >= change_ns:
            last = window + after
    rows = pd.concat(tables[-1 - before - after :], ignore_index=True)
    for name in ("low", "high"):
        # Addresses are whole numbers of more bits than the rest of a float, until here.
        away = np.array([int(address) - border for address in rows[name]])
        rows[name] = np.clip(away / MIB, -mib, mib)
    return rows.loc[rows["low"] < rows["high"], ["window", "stage", "low", "high", "count"]]


def _window(ctx: Damon, pages: Pages) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    # Let a window pass; its regions before the merge, after it, and after the split.
    still, their_pages = copy.deepcopy((ctx, pages))
    still.info["adapt"] = False  # draws the same pages, and leaves the regions as they are
    counted = _reported(still, kdamond_window(still, their_pages))
    merged = _reported(ctx, kdamond_window(ctx, pages))
    pieces = regions(ctx)
    split = {
        "low": [int(start, 16) for start in pieces["start"]],
        "high": [int(end, 16) for end in pieces["end"]],
        "count": pieces["last_nr_accesses"],
    }
    return counted, merged, pd.DataFrame(split)


def _reported(ctx: Damon, n: int) -> pd.DataFrame:
    rows = ctx.trace[:n]
    columns = {"low": "start", "high": "end", "count": "nr_accesses"}
    return pd.DataFrame({name: rows[field].copy() for name, field in columns.items()})
