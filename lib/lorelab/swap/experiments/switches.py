"""`swap/switches`: the allocator's test under each of its switches, in turns and in one boot.

Runs of one boot share the kernel's memory, its caches, and what a switch may leave behind. So the
settings follow one another (A B C ... A B C ...): a run that depended on the one before it, or on
how long the kernel has been up, would differ from turn to turn, and from the model, which starts
each run anew.
"""

from collections.abc import Iterator

import pandas as pd

from lorelab.swap.experiments import allocator_test, paths
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
    found = {name: AllocatorTest(**shared | changes) for name, changes in SETTINGS.items()}
    if params.large_swapin:
        del found["page by page"]
    return found


def in_turns(iterations: int, found: Iterator[tuple[int, str, pd.DataFrame]]) -> pd.DataFrame:
    """Lay out the tables of all runs as the one of `swap/switches`.

    Parameters
    ----------
    iterations : int
        Of a run.
    found : iterator of (int, str, DataFrame)
        Turn from 0, setting, and counters of `swap/allocator-test` or `swap/paths`.

    Returns
    -------
    DataFrame
        Counters as `SETTING.COUNTER`. Steps count iterations, on from turn to turn; the totals of
        `swap/paths` stand at the last one of their turn.
    """
    tables = []
    for turn, setting, table in found:
        step = table["step"].where(table["step"] > 0, iterations) + turn * iterations
        counter = f"{setting}." + table["counter"]
        tables.append(table.assign(experiment="switches", step=step, counter=counter))
    return pd.concat(tables, ignore_index=True)


def simulate(params: Switches) -> pd.DataFrame:
    """Run all settings on the model: a turn is what the last one was, for the model leaves nothing.

    Returns
    -------
    DataFrame
        As `in_turns` lays it out.
    """
    runs = {
        setting: [allocator_test.simulate(test), paths.simulate(test)]
        for setting, test in settings(params).items()
    }
    return in_turns(
        params.iterations,
        (
            (turn, setting, table)
            for turn in range(params.turns)
            for setting, tables in runs.items()
            for table in tables
        ),
    )


def by_setting(joined: pd.DataFrame, iterations: int) -> pd.DataFrame:
    """Tell settings and turns apart in a table of `lorelab.judging.agreement.compare`.

    Returns
    -------
    DataFrame
        `joined` with the columns `setting` and `turn`, and `counter` as one run has it.
    """
    told = joined["counter"].str.rsplit(".", n=1, expand=True)
    turn = "turn " + ((joined["step"] - 1) // iterations + 1).astype(str)
    return joined.assign(setting=told[0], counter=told[1], turn=turn)


def by_turn(told: pd.DataFrame) -> pd.DataFrame:
    """Add up each turn of `by_setting`: folios the kernel split, and iterations that are equal.

    Returns
    -------
    DataFrame
        A row a setting; columns are both for each turn.
    """
    outcome = told[told["counter"].isin(["swpout", "swpout_fallback"])]
    same = outcome.groupby(["setting", "turn", "step"])["difference"].agg(lambda d: (d == 0).all())
    same = same.rename("equal").reset_index()
    split = outcome[outcome["counter"] == "swpout_fallback"]
    table = {"index": "setting", "columns": "turn", "sort": False, "aggfunc": "sum"}
    shown = {
        "split": split.pivot_table(values="kernel", **table),
        "iterations equal": same.pivot_table(values="equal", **table),
    }
    return pd.concat(shown, axis=1).astype(int)


def as_counters(told: pd.DataFrame, turn: str) -> pd.DataFrame:
    """One turn of `by_setting` as counters of `swap/allocator-test`, a variant a setting."""
    outcome = told["counter"].isin(["swpout", "swpout_fallback"])
    drawn = told[outcome & (told["turn"] == turn)]
    sides = ["model", "kernel"]
    drawn = drawn.melt(["step", "counter", "unit", "setting"], sides, "source", "value")
    return drawn.rename(columns={"setting": "variant"})
