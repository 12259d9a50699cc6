"""Benchmark tables that were kept, by `python -m bench --keep`, for the page that shows them.

A table of times is no output of a page, for it differs from run to run. It is a record, as a kernel
run is: a JSON in data/bench with the tables and where they come from, whose digest is checked.
"""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lorelab import atomic
from lorelab.errors import BadInput
from lorelab.lab import cache

FOLDER = Path(__file__).resolve().parents[3] / "data/bench"
COMPUTE = ("numba", "numpy")


class Kept(NamedTuple):
    """The tables of one design by title, and where they come from."""

    tables: dict[str, pd.DataFrame]
    made: dict[str, str]


def keep(name: str, tables: dict[str, pd.DataFrame], folder: Path = FOLDER) -> Path:
    """Write the tables of a design, all of one run; they take the place of those before.

    Parameters
    ----------
    name : str
        Of the design, or what else has a benchmark.
    tables : dict of DataFrame
        By title; cells as they are printed, with their units in the column's name.
    folder : Path
        Other than data/bench.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     keep("tiny", {"times": pd.DataFrame({"ns": ["3"]})}, Path(folder)).name
    'tiny.json'
    """
    body = {
        "tables": {title: table.to_dict("split", index=False) for title, table in tables.items()},
        "made": {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "processor": _processor(),
            "cpus": str(os.cpu_count()),
            "python": platform.python_version(),
            **{package: version(package) for package in COMPUTE},
        },
    }
    sealed = {**body, "sha256": cache.digest(json.dumps(body, sort_keys=True))}
    folder.mkdir(parents=True, exist_ok=True)
    return atomic.write(folder / f"{name}.json", json.dumps(sealed, indent=1) + "\n")


def read(name: str, folder: Path = FOLDER) -> Kept:
    """Read the tables that were kept of a design.

    Raises
    ------
    BadInput
        There are none, or the file was edited.

    Examples
    --------
    >>> list(read("gso").made)
    ['date', 'processor', 'cpus', 'python', 'numba', 'numpy']
    """
    file = folder / f"{name}.json"
    try:
        body = json.loads(file.read_text())
        digest = body.pop("sha256")
    except FileNotFoundError:
        raise BadInput(f"{file} is not there; python -m bench --keep {name} makes it") from None
    except (ValueError, KeyError):
        raise BadInput(f"{file} is no table of a benchmark; git checkout brings it back") from None
    if digest != cache.digest(json.dumps(body, sort_keys=True)):
        raise BadInput(f"{file} was edited (its digest differs); git checkout brings it back")
    tables = {title: pd.DataFrame(**split) for title, split in body["tables"].items()}
    return Kept(tables, body["made"])


def machines(names: tuple[str, ...], folder: Path = FOLDER) -> pd.DataFrame:
    """Where each of the kept tables comes from: a row a design.

    Examples
    --------
    >>> machines(("swap", "gso")).index.tolist()
    ['swap', 'gso']
    """
    return pd.DataFrame({name: read(name, folder).made for name in names}).T


def _processor() -> str:
    """The processor's name as Linux tells it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
