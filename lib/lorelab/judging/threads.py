"""Figures printed in the threads: data/threads, one tidy file a design."""

from pathlib import Path

import pandas as pd

from lorelab.errors import RunFailed

FOLDER = Path(__file__).parents[3] / "data" / "threads"


def figures(design: str) -> pd.DataFrame:
    """Every figure of a design's thread, one row each, indexed by the row's `id`.

    Returns
    -------
    DataFrame
        Columns as data/threads/README.md says; text columns are empty strings where they do not
        apply, `value` is a float in the unit of the row.
    """
    path = FOLDER / f"{design}.csv"
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise RunFailed(f"{path} is missing: restore it with `git checkout data/threads`") from None
    return table.assign(value=table["value"].astype(float)).set_index("id")


def figure(design: str, id: str) -> float:
    """A printed figure, in the unit of its row."""
    return float(figures(design).loc[id, "value"])
