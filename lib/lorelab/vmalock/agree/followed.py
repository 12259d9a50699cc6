"""`vmalock/followed`: each step of a recorded run, against what the model has there."""

import numpy as np
import pandas as pd

from lorelab.agreement import Agreement, Verdict
from lorelab.lab.records import Record
from lorelab.vmalock.model.follow import NAMES, OPEN, OTHER, SAME, follow
from lorelab.vmalock.params import Followed


def followed(log: pd.DataFrame, received: int = 0) -> tuple[pd.DataFrame, int]:
    """The log with what the model says, as columns `model` and `judged` (same, open, other).

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
    event = log["event"].map(numbers).to_numpy(np.uint64)
    columns = [log[n].to_numpy(np.uint64) for n in ("task", "vma", "vm_lock_seq", "mm_lock_seq")]
    said, judged = np.zeros_like(event), np.zeros_like(event)
    vmas = np.zeros((int(log["vma"].max()) + 1, 4), np.uint64)
    tasks = np.zeros((int(log["task"].max()) + 1, 3), np.uint64)
    between = follow(event, *columns, np.uint64(received), said, judged, vmas, tasks)
    words = {int(SAME): "same", int(OPEN): "open", int(OTHER): "other"}
    told = log.assign(model=np.array(NAMES)[said], judged=pd.Series(judged).map(words).to_numpy())
    return told, int(between)


def agree(params: Followed, record: Record) -> Agreement:
    """Every step has to be the model's; open ones may be few."""
    return judge(*followed(record.counters))


def judge(told: pd.DataFrame, between: int) -> Agreement:
    """The same of a log that the model has gone through."""
    rows = []
    for event, steps in told.groupby("event", sort=False):
        judged = steps["judged"].value_counts()
        rows.append(
            {
                "counter": event,
                "unit": "steps",
                "steps": len(steps),
                "same": int(judged.get("same", 0)),
                "open": int(judged.get("open", 0)),
                "agrees": bool((steps["judged"] != "other").all()),
            }
        )
    table = pd.DataFrame(rows)
    other, left_open = int((told["judged"] == "other").sum()), int(table["open"].sum())
    same = int(table["same"].sum())
    verdict = Verdict.PASSED
    if other:
        verdict = Verdict.FAILED
    elif left_open > 0.05 * len(told):
        verdict = Verdict.UNDECIDED
    judged = (
        f"step by step, in the order of the kernel's log: {same} of {len(told)} are the model's, "
        f"{other} are not, {left_open} have two right answers; {between} read the mm's sequence "
        "in the moment that the log leaves open"
    )
    return Agreement(verdict, table, judged)
