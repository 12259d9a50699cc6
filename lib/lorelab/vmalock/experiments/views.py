"""Tables of recorded runs, as the chapter's pages show them."""

import pandas as pd

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.params import Params, words
from lorelab.vmalock.agree.followed import agree
from lorelab.vmalock.params import Followed, Instructions, Threads

SETTINGS = ("mode", "faulters", "delay_us")
"""Parameters of `vmalock/followed` by which its recorded runs are told apart."""


def followed() -> pd.DataFrame:
    """Every recorded run of `vmalock/followed`, held against the model.

    Returns
    -------
    DataFrame
        A row a run: `SETTINGS`, and its steps: all, those that are the model's (`same`), those with
        two right answers (`open`), and the verdict.
    """
    rows = []
    for params in records.recorded("vmalock/followed", Followed):
        found = agree(params, _record("vmalock/followed", params))
        sums = found.table[["steps", "same", "open"]].sum()
        rows.append(params.model_dump(include=set(SETTINGS)) | sums.to_dict())
        rows[-1]["verdict"] = str(found.verdict)
    columns = [*SETTINGS, "steps", "same", "open", "verdict"]
    return pd.DataFrame(rows)[columns].sort_values([*SETTINGS[::-1]], ignore_index=True)


def threads(**given: int) -> pd.DataFrame:
    """Counters of `vmalock/threads` by mode and by what a fault tries first.

    Parameters
    ----------
    **given
        Further parameters of the runs.
    """
    shown = {}
    for mode in ("private", "shared", "merging"):
        for path in ("vma", "mmap"):
            params = Threads(mode=mode, path=path, **given)
            counters = _record("vmalock/threads", params).counters
            shown[mode, path] = counters.set_index("counter")["value"]
    return pd.DataFrame(shown)


def instructions(locks: tuple[str, ...] = ("off", "on")) -> pd.DataFrame:
    """Median instructions of a fault and of a fork, a column for each state of the lock."""
    found = {
        lock: {
            what: _record("vmalock/instructions", Instructions(what=what, lock=lock))
            .counters["value"]
            .median()
            for what in ("faults", "forks")
        }
        for lock in locks
    }
    return pd.DataFrame(found)


def _record(name: str, params: Params) -> records.Record:
    found = experiment(name).recorded(params)
    if found is None:
        raise RunFailed(f"{name} of {words(params)} is not recorded; add --record to a run of it")
    return found
