"""`swap/switches`: the allocator's test under each of its switches, in turns and in one boot.

Runs of one boot share the kernel's memory, its caches, and what a switch may leave behind. So the
settings follow one another (A B C ... A B C ...): a run that depended on the one before it, or on
how long the kernel has been up, would differ from turn to turn, and from the model, which starts
each run anew.
"""

import pandas as pd

from lorelab.swap.experiments import allocator_test, paths
from lorelab.swap.params import Switches
from lorelab.swap.workload.switches import in_turns, settings


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
    """Tell settings and turns apart in a table of `lorelab.judging.rows.compare`.

    Returns
    -------
    DataFrame
        `joined` with the columns `setting` and `turn`, and `counter` as one run has it.
    """
    split = joined["counter"].str.rsplit(".", n=1, expand=True)
    turn = "turn " + ((joined["step"] - 1) // iterations + 1).astype(str)
    return joined.assign(setting=split[0], counter=split[1], turn=turn)


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
