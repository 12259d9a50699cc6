"""What a worker does with the points that it is dealt."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lorelab.errors import BadInput, RunFailed

COLUMNS = ["variant", "step", "counter", "unit", "value"]
"""Of a counter table (`lorelab.counters`), without what is the same in a whole sweep."""


class Done(NamedTuple):
    """Points that were dealt together.

    Attributes
    ----------
    results : list
        For each, its rows (`COLUMNS`), or the message that it failed with.
    seconds : float
        That all of them took.
    """

    results: list[list[list[Any]] | str]
    seconds: float


def simulate(name: str, points: list[dict[str, str]]) -> Done:
    """Run the model of an experiment at each point."""
    from lorelab.experiments import experiment
    from lorelab.params import parse

    question = experiment(name)
    began, results = time.monotonic(), []
    for point in points:
        try:
            results.append(rows(question.simulate(parse(question.Params, point))))
        except Exception as error:  # whatever it is, it is that point's, and the others go on
            results.append(_said(error))
    return Done(results, time.monotonic() - began)


def measure(name: str, points: list[dict[str, str]]) -> Done:
    """Measure all points in one boot of the laboratory's kernel.

    Raises
    ------
    RunFailed
        The guest failed; which point is to blame, a boot with fewer of them tells.
    """
    from lorelab.experiments import experiment
    from lorelab.params import parse

    question = experiment(name)
    began = time.monotonic()
    try:
        runs = question.measure([parse(question.Params, point) for point in points])
    except (BadInput, RunFailed) as error:
        if len(points) > 1:
            raise RunFailed(str(error)) from None
        return Done([_said(error)], time.monotonic() - began)
    return Done([rows(run.counters) for run in runs], time.monotonic() - began)


def execute(notebook: str, folder: str, numbers: list[int], points: list[dict[str, str]]) -> Done:
    """Run a notebook at each point; it and its HTML stay in `folder`, named by their numbers."""
    from lorelab.running import rerun

    began, results = time.monotonic(), []
    for number, point in zip(numbers, points, strict=True):
        try:
            # The sweep has a bar of its own.
            rerun.run(Path(notebook), point, Path(folder, f"{number:06}.ipynb"), bar=False)
            results.append([])
        except Exception as error:
            results.append(_said(error))
    return Done(results, time.monotonic() - began)


def rows(counters: pd.DataFrame) -> list[list[Any]]:
    """A counter table as plain lists, for the journal.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> rows(table("swap/tiny", "v6.12", "model", {"slots": ("slots", [8, 9])}))
    [['v6.12', 1, 'slots', 'slots', 8], ['v6.12', 2, 'slots', 'slots', 9]]
    """
    return [list(row) for row in zip(*(counters[name].tolist() for name in COLUMNS), strict=True)]


def _said(error: Exception) -> str:
    kind = "" if isinstance(error, BadInput | RunFailed) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()) or type(error).__name__
