"""`vmalock/followed`: each step of a recorded run, against what the model has there."""

import numpy as np
import pandas as pd

from lorelab.judging.agreement import INPUT, TIMING, Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree.invariants import variant_with_rules
from lorelab.vmalock.model import replay
from lorelab.vmalock.model.replay import FROM_KERNEL, NAMES, OPEN, OTHER, SAME, STEP, UNORDERED
from lorelab.vmalock.params import Followed, Variant

OUTCOMES = {
    int(SAME): "same",
    int(OPEN): "open",
    int(UNORDERED): "unordered",
    int(FROM_KERNEL): "input",
    int(OTHER): "other",
}
"""What came of a step (see `lorelab.vmalock.model.replay`)."""
SPLIT = 0.05
"""Part of the compared steps that may have two right answers before a run is undecided."""


def followed(log: pd.DataFrame, received: int = 0) -> tuple[pd.DataFrame, int]:
    """The log with what the model says, as columns `model` and `outcome` (`OUTCOMES`).

    Parameters
    ----------
    log : DataFrame
        As recorded.
    received : int
        The VMA that TCP is received in; 0 for none.

    Returns
    -------
    DataFrame, int
        And how many steps read the mm's sequence in the moment that the log leaves open.
    """
    numbers = {name: number for number, name in enumerate(NAMES)}
    numbered = log.assign(event=log["event"].map(numbers))
    steps = np.zeros(len(log), STEP)
    for name in STEP.names:
        steps[name] = numbered[name]
    vmas = np.zeros(int(log["vma"].max()) + 1, replay.VMA)
    tasks = np.zeros(int(log["task"].max()) + 1, replay.TASK)
    model, outcome = np.zeros((2, len(log)), np.uint64)
    between = replay.follow(steps, np.uint64(received), model, outcome, vmas, tasks)
    outcomes = pd.Series(outcome).map(OUTCOMES).to_numpy()
    return log.assign(model=np.array(NAMES)[model], outcome=outcomes), int(between)


def agree(params: Followed, record: Record) -> Agreement:
    """Every step that is compared has to be the model's; few may have two right answers."""
    variant_with_rules(record, Variant.V6_12)
    return judge(*followed(record.counters))


def judge(log: pd.DataFrame, between: int) -> Agreement:
    """The same of a log that the model has gone through (`followed()`)."""
    counted = pd.crosstab(log["event"], log["outcome"])
    counted = counted.reindex(log["event"].unique()).reindex(
        columns=OUTCOMES.values(), fill_value=0
    )
    steps = counted.sum(axis=1).rename("steps")
    table = pd.concat([steps, counted], axis=1).rename_axis("counter").reset_index()
    table.insert(1, "unit", "steps")
    # An event of which no step has one right answer: the model was given each, or the log does not
    # say which came first.
    none = table[table["same"] + table["other"] == 0]
    aside = {row.counter: INPUT if row.input == row.steps else TIMING for row in none.itertuples()}
    table["agrees"] = table.pop("other") == 0
    total = counted.sum()
    compared = len(log) - total["input"]
    # What has two right answers would not have been refused, whatever the model said.
    open_ended = total["open"] + total["unordered"] > SPLIT * compared
    table["detectable"] = np.inf if open_ended else 0.0
    method = (
        f"step by step, in the order of the kernel's log: of {len(log)} steps {compared} are "
        f"compared and {total['input']} are inputs; of those compared {total['same']} are the "
        f"model's, {total['other']} are not, {total['open']} have two right answers, and "
        f"{total['unordered']} have two because the log does not order their read of the mm's "
        f"sequence; {between} read it in the moment that the log leaves open"
    )
    return Agreement.of(table, method, aside)
