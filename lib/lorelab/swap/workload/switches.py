"""Settings of `swap/switches`, and how their counters are laid out."""

from collections.abc import Iterator

import pandas as pd

from lorelab.swap.params import AllocatorTest, AllocMode, Switches

NAME = "swap/switches"

SETTINGS = {
    "as booted": {"large_swapin": True},
    "page by page": {},
    "v6.10": {"alloc_mode": AllocMode.V6_10},
    "v3": {"alloc_mode": AllocMode.V3},
    "nonfull first": {"alloc_mode": AllocMode.NONFULL_FIRST},
    "no stealing": {"stealing": False},
    "no slot cache": {"slot_cache": False},
    "no free cache": {"free_cache": False},
}
"""What is turned, by name: nothing; large_swapin alone; and, on top of that, each of the others.

Where folios come back whole the lists hardly fragment, and the other switches change little.
"""


def settings(params: Switches) -> dict[str, AllocatorTest]:
    """The runs of one turn, by their place in `SETTINGS`.

    With large swap-in left on in all of them, nothing is page by page.
    """
    shared = params.model_dump(exclude={"turns"})
    runs = {name: AllocatorTest(**shared | changes) for name, changes in SETTINGS.items()}
    if params.large_swapin:
        del runs["page by page"]
    return runs


def in_turns(iterations: int, runs: Iterator[tuple[int, str, pd.DataFrame]]) -> pd.DataFrame:
    """Lay out the tables of all runs as the one of `swap/switches`.

    Parameters
    ----------
    iterations : int
        Of a run.
    runs : iterator of (int, str, DataFrame)
        Turn from 0, setting, and counters of `swap/allocator-test` or `swap/paths`.

    Returns
    -------
    DataFrame
        Counters as `SETTING.COUNTER`. Steps count iterations, on from turn to turn; the totals of
        `swap/paths` stand at the last one of their turn.
    """
    tables = []
    for turn, setting, table in runs:
        step = table["step"].where(table["step"] > 0, iterations) + turn * iterations
        counter = f"{setting}." + table["counter"]
        tables.append(table.assign(experiment="switches", step=step, counter=counter))
    return pd.concat(tables, ignore_index=True)
