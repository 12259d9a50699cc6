"""What the tests catch of one-line mutations of the library, as `make mutants` found it."""

import hashlib
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "mutants" / "results.csv"
"""A row a mutation; mutants/__main__.py says what its columns are."""


def digest(file: Path) -> str:
    """Of a file of the library, as a row has it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def changed(table: pd.DataFrame, root: Path = ROOT) -> pd.Series:
    """Whether the file of a row is no longer the one that was mutated.

    Parameters
    ----------
    table : DataFrame
        Of RESULTS.
    root : Path
        What its files stand below.
    """
    files = {name: root / name for name in table["file"].unique()}
    now = {name: digest(file) if file.exists() else "" for name, file in files.items()}
    return table["file"].map(now) != table["source"]


def scores(results: Path = RESULTS, root: Path = ROOT) -> pd.DataFrame:
    """Mutations by design and outcome.

    Parameters
    ----------
    results, root : Path
        The table, and what its files stand below.

    Returns
    -------
    DataFrame
        A row a design: mutations, those killed, survived, equivalent (no test could tell them from
        the code as it is), the share killed of those that are not equivalent in per cent, and how
        many stand in files that were changed since.
    """
    table = pd.read_csv(results)
    by = table.groupby("design", sort=False)["outcome"]
    counts = {name: by.agg(lambda its, name=name: (its == name).sum()) for name in OUTCOMES}
    scored = pd.DataFrame({"mutations": by.size(), **counts})
    told_apart = scored["killed"] + scored["survived"]
    scored["killed, % of not equivalent"] = (100 * scored["killed"] / told_apart).round(1)
    scored["in files changed since"] = changed(table, root).groupby(table["design"]).sum()
    return scored


OUTCOMES = ("killed", "survived", "equivalent")
