"""What a record of `damon/follow` shows: what was accessed, what was reported, at which rates."""

import numpy as np
import pandas as pd

from lorelab.damon.kernel.follow import unpacked, unspanned
from lorelab.damon.pages import views
from lorelab.damon.params import Masim, Speeds
from lorelab.errors import BadInput


def accesses(table: pd.DataFrame) -> pd.DataFrame:
    """What the program of a record accessed: `begin`, `end` (s), `low` and `high` (addresses)."""
    rows = table[table["window"] == 0].iloc[1:]
    begin = rows["us"].to_numpy() / 1e6
    spans = [unspanned(text)[0] for text in rows["regions"].iloc[:-1]]
    low, high = np.array(spans, np.uint64).T
    return pd.DataFrame({"begin": begin[:-1], "end": begin[1:], "low": low, "high": high})


def took(table: pd.DataFrame) -> Speeds:
    """What an access, a check and a sleep took in a record.

    Raises
    ------
    BadInput
        The record is older than that.
    """
    times = str(table[table["window"] == 0]["checks"].iloc[-1]).split()
    if not times:
        raise BadInput("the recorded run does not say what things took; measure again")
    access, check, sleep = map(float, times)
    return Speeds(access, check, sleep)


def reports(table: pd.DataFrame) -> pd.DataFrame:
    """What DAMON said in a record: `begin`, `end`, `low`, `high`, and `nr_accesses`."""
    rows = table[table["window"] > 0]
    ends = rows["us"].to_numpy() / 1e6
    windows = [unpacked(text) for text in rows["regions"]]
    nr = [len(window) for window in windows]
    regions = np.concatenate(windows)
    return pd.DataFrame(
        {
            "begin": np.repeat(np.append(2 * ends[0] - ends[1], ends[:-1]), nr),
            "end": np.repeat(ends, nr),
            "low": regions["start"],
            "high": regions["end"],
            "nr_accesses": regions["nr_accesses"],
        }
    )


def heats(params: Masim, table: pd.DataFrame, shape: tuple[int, int] = (40, 40)) -> pd.DataFrame:
    """Rates of access of a record, in truth and as the kernel reports them.

    A rate in truth is the share of the time in which the program was at it.

    Returns
    -------
    DataFrame
        As `lorelab.damon.pages.views.heats()`, `what` being truth or kernel.
    """
    truth, reported = accesses(table), reports(table)
    base, top = int(truth["low"].min()), int(truth["high"].max())
    times = np.linspace(0, truth["end"].iloc[-1], shape[0] + 1)
    edges = np.linspace(0, (top - base) / 2**20, shape[1] + 1)
    parts = []
    for what, rows, rate in (
        ("truth", truth, np.ones(len(truth))),
        ("kernel", reported, np.minimum(reported["nr_accesses"] / params.samples, 1)),
    ):
        low, high = (
            (rows[name].to_numpy().astype(np.int64) - base) / 2**20 for name in ("low", "high")
        )
        when = _overlap(rows["begin"].to_numpy(), rows["end"].to_numpy(), times)
        where = _overlap(low, high, edges)
        rates = (when * np.asarray(rate)[:, None]).T @ where
        rates /= (times[1] - times[0]) * (edges[1] - edges[0])
        parts.append(views.runs(np.round(rates, 1)).assign(what=what))
    cells = pd.concat(parts, ignore_index=True)
    for name in ("time", "until"):
        cells[name] *= times[1]
    for name in ("address", "top"):
        cells[name] *= edges[1]
    return cells.round(4)


def _overlap(begin: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    # (n, cells): how much of each cell an interval covers.
    shared = np.minimum(end[:, None], edges[1:]) - np.maximum(begin[:, None], edges[:-1])
    return np.maximum(shared, 0)
