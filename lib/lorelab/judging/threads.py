"""Figures printed in the threads: data/threads, one tidy file a design."""

from pathlib import Path

import pandas as pd

from lorelab.errors import RunFailed

TO_BE_CONFIRMED = "to be confirmed"
"""`seen` of a number that a program found in the messages, and nobody has looked at yet."""
FOLDER = Path(__file__).parents[3] / "data" / "threads"


def figures(design: str) -> pd.DataFrame:
    """Every figure of a design's thread, one row each, indexed by the row's `id`.

    Returns
    -------
    DataFrame
        Columns as data/threads/README.md says; text columns are empty strings where they do not
        apply, `value` is a float in the unit of the row. What is to be confirmed is left out.

    Examples
    --------
    >>> figures("gso").loc["guests", "unit"]
    'guests'
    """
    rows = _rows(design)
    return rows[rows["seen"] != TO_BE_CONFIRMED]


def proposed(design: str) -> pd.DataFrame:
    """The rows that `figures` leaves out, for somebody to confirm.

    Examples
    --------
    >>> len(proposed("gso"))
    0
    """
    rows = _rows(design)
    return rows[rows["seen"] == TO_BE_CONFIRMED]


def messages(design: str) -> pd.DataFrame:
    """Messages of a thread that `lorelab new` read: `message`, `author`, `date`, `subject`.

    Examples
    --------
    >>> messages("faultaround").columns.tolist()
    ['message', 'author', 'date', 'subject']
    """
    return pd.read_csv(FOLDER / f"messages/{design}.csv", dtype=str, keep_default_na=False)


def _rows(design: str) -> pd.DataFrame:
    path = FOLDER / f"{design}.csv"
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise RunFailed(f"{path} is missing: restore it with `git checkout data/threads`") from None
    return table.assign(value=table["value"].astype(float)).set_index("id")


def figure(design: str, id: str) -> float:
    """A printed figure, in the unit of its row.

    Examples
    --------
    >>> figure("gso", "guests")
    2.0
    """
    return float(figures(design).loc[id, "value"])
