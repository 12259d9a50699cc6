"""Which parameters a result depends on: a sample of their ranges, and the variance each explains.

The points are kept in data/sensitivity beside what they rest on, and are run again only where that
has changed: the model's source, the question, or the packages that compute.
"""

import ast
import json
from contextlib import suppress
from importlib.metadata import version
from io import StringIO
from itertools import pairwise
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from lorelab import atomic
from lorelab.errors import RunFailed
from lorelab.experiments import Experiment, experiment
from lorelab.lab import cache
from lorelab.running.sweep import plan as plans
from lorelab.running.sweep import points
from lorelab.showing import charts

LIBRARY = Path(__file__).resolve().parents[3]
STORED = LIBRARY.parent / "data/sensitivity"
PACKAGES = ("numba", "numpy")
GROUPS = 8
"""Groups, alike in size, that the values of a parameter are put into if there are more."""


def sampled(
    name: str,
    pairs: tuple[str, ...],
    result: str,
    number: int = 256,
    folder: Path = STORED,
) -> pd.DataFrame:
    """A result at points that fill the ranges of parameters evenly, stored or run now.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`; its model is run.
    pairs : tuple of str
        The ranges, as `lorelab sweep --sample` takes them.
    result : str
        Of the counters, each summed over its steps, as `pandas.eval` takes it: `hits / touched`.
    number : int
        Points; a power of two fills best.
    folder : Path
        Where they are stored.

    Returns
    -------
    DataFrame
        A row a point: the parameters as typed (numbers where all values are), then `result`.

    Raises
    ------
    RunFailed
        The model fails at a point.
    """
    subject = experiment(name)
    sample = plans.sample(name, pairs, subject.Params.model_fields, number)
    question = {"plan": sample.model_dump(mode="json"), "result": result}
    kept, beside = folder / f"{name}.csv", folder / f"{name}.json"
    rests = {"rests_on": rests_on(subject), **question}
    table = _stored(kept, beside, rests)
    if table is None:
        text = _run(name, sample, result).to_csv(index=False, lineterminator="\n")
        with suppress(OSError):  # what can't be stored is shown all the same
            kept.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(kept, text)
            rests["sha256"] = cache.digest(text)
            atomic.write(beside, json.dumps(rests, sort_keys=True) + "\n")
        table = pd.read_csv(StringIO(text), keep_default_na=False, na_values={"result": [""]})
    return table


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """How much of the variance of a result each parameter explains by itself.

    The share is that of the variance between groups of points with alike values of the parameter
    (the correlation ratio: Sobol's first-order index, from a table of points), less what as many
    random groups would explain (Kelley's correction). What parameters explain only together is in
    no share, so they need not add up to 100 %.

    Parameters
    ----------
    table : DataFrame
        As `sampled` gives it.

    Returns
    -------
    DataFrame
        A row a parameter, that with the largest share first: `parameter`, `share_percent`,
        `lowest` and `highest` mean of a group, and which values have it (`at_lowest`,
        `at_highest`).

    Examples
    --------
    >>> points = pd.DataFrame({"pages": [1, 1, 2, 2] * 2, "seed": range(8)})
    >>> shares(points.assign(result=10 * points["pages"]))[["parameter", "share_percent"]]
      parameter  share_percent
    0     pages          100.0
    1      seed            0.0
    """
    table = table.dropna(subset="result")
    total = float(table["result"].var(ddof=1))
    rows = []
    swept = [name for name in table.columns[:-1] if len(set(table[name])) > 1]
    for name in swept:
        groups = table.groupby(_grouped(table[name]), observed=True, sort=True)["result"]
        means = groups.mean()
        free = len(table) - len(means)
        within = float(((table["result"] - groups.transform("mean")) ** 2).sum())
        explained = 1 - within / free / total if free and total else 0.0
        rows.append(
            {
                "parameter": name,
                "share_percent": 100 * max(0.0, explained),
                "lowest": means.min(),
                "at_lowest": str(means.idxmin()),
                "highest": means.max(),
                "at_highest": str(means.idxmax()),
            }
        )
    return pd.DataFrame(rows).sort_values("share_percent", ascending=False, ignore_index=True)


def chart(shared: pd.DataFrame, what: str) -> alt.Chart:
    """The share of each parameter, as bars; `what` names the result."""
    first, *rest = zip(shared["parameter"], shared["share_percent"], strict=True)
    see = f"By itself {first[0]} explains {first[1]:.0f} % of the variance"
    see += f", and {rest[0][0]} {rest[0][1]:.0f} %." if rest else "."
    return (
        alt.Chart(shared, title=charts.title(f"What {what} depends on", see))
        .mark_bar()
        .encode(
            alt.X("share_percent:Q", title="variance explained by the parameter alone, %").scale(
                domain=[0, 100]
            ),
            alt.Y("parameter:N", title=None, sort=None),
        )
        .properties(height=alt.Step(24))
    )


def rests_on(experiment: Experiment) -> str:
    """Digest of what a point rests on: the modules its model is made of, and what computes."""
    design, question = experiment.name.split("/")
    todo = [f"lorelab.{design}.experiments.{question.replace('-', '_')}"]
    files: dict[str, Path] = {}
    while todo:
        name = todo.pop()
        file = _file(name)
        if name not in files and file is not None:
            files[name] = file
            todo += _imported(file)
    parts = [f"{name} {cache.file_digest(files[name])}" for name in sorted(files)]
    return cache.digest(*parts, *(f"{package} {version(package)}" for package in PACKAGES))


def _file(name: str) -> Path | None:
    path = LIBRARY.joinpath(*name.split("."))
    return next((at for at in (path.with_suffix(".py"), path / "__init__.py") if at.exists()), None)


def _imported(file: Path) -> list[str]:
    """Modules of this library that a file imports, wherever it does."""
    modules = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in modules if name.startswith("lorelab.")]


def _stored(kept: Path, beside: Path, rests: dict) -> pd.DataFrame | None:
    """The stored points, if they rest on what is there now and nobody touched them."""
    try:
        text, basis = kept.read_text(), json.loads(beside.read_text())
    except (OSError, ValueError):
        return None
    if basis != {**rests, "sha256": cache.digest(text)}:
        return None
    return pd.read_csv(StringIO(text), keep_default_na=False, na_values={"result": [""]})


def _run(name: str, sample: plans.Plan, result: str) -> pd.DataFrame:
    each, sums = list(sample), []
    for point, rows in zip(each, points.simulate(name, each).results, strict=True):
        if isinstance(rows, str):
            raise RunFailed(f"{name} with {point}: {rows}")
        counters = pd.DataFrame(rows, columns=points.COLUMNS)
        sums.append(counters.groupby("counter")["value"].sum())
    return pd.DataFrame(each).assign(result=pd.DataFrame(sums).eval(result).tolist())


def _grouped(values: pd.Series) -> pd.Series:
    if values.nunique() <= GROUPS or not pd.api.types.is_numeric_dtype(values):
        return values
    edges = np.unique(np.quantile(values, np.linspace(0, 1, GROUPS + 1)))
    names = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return pd.cut(values, edges, labels=names, include_lowest=True)
