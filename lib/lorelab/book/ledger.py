"""What the page `ledger` shows: the claims of all threads, and every experiment's agreement.

A claim is weighed once, by the page of its thread. The ledger collects what those pages show, so
that it says what they say; their outputs are compared with a fresh run as any other.
"""

import json
from pathlib import Path

import pandas as pd

from lorelab import atomic
from lorelab.book.verdicts import MIME, Claims, shown
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import designs, experiment, experiments
from lorelab.judging.agreement import WORST_FIRST, AgreementVerdict, worst
from lorelab.lab import records
from lorelab.showing.notebook import against_model

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "notebooks"
AGREEMENTS = ROOT / "data/agreements"


def weighed(design: str, pages: Path = PAGES) -> pd.DataFrame:
    """The claims of a design with their verdicts, as the page of its thread shows them.

    Raises
    ------
    RunFailed
        The page has no such table.
    """
    page = pages / design / "thread.ipynb"
    for cell in json.loads(page.read_text())["cells"]:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                return pd.DataFrame(output["data"][MIME])
    raise RunFailed(f"{page}: shows no ledger; run it")


def every() -> pd.DataFrame:
    """The claims of all threads with their verdicts, in the order of the book."""
    return pd.concat([weighed(design) for design in designs()], ignore_index=True)


def collected(design: str) -> Claims:
    """The claims of a design, each with its evidence and a link to its row on the thread's page."""
    columns = ("statement", "verdict", "why", "evidence")
    return Claims(weighed(design), columns, at=f"{design}/thread.html")


def totals(every: pd.DataFrame) -> pd.DataFrame:
    """Claims by design and verdict; the last row and column are sums.

    Examples
    --------
    >>> claims = {"swap": "holds", "damon": "contradicted", "gso": "holds"}
    >>> every = pd.DataFrame(claims.items(), columns=["design", "verdict"])
    >>> totals(every)[["holds", "contradicted", "claims"]]
          holds  contradicted  claims
    swap       1             0       1
    damon      0             1       1
    gso        1             0       1
    all        2             1       3
    """
    counted = pd.crosstab(every["design"], every["verdict"])
    counted = counted.reindex(index=every["design"].unique(), columns=shown(every), fill_value=0)
    counted["claims"] = counted.sum(axis=1)
    counted.loc["all"] = counted.sum()
    return counted.rename_axis(index=None, columns=None)


def judge_records(name: str) -> Path:
    """Judge every recorded run of an experiment by the model; keep the verdicts as a file.

    Some take minutes each, so the ledger reads the file, `data/agreements/DESIGN/EXPERIMENT.csv`: a
    row for each recorded run, with the day and time it was `recorded`.
    """
    question = experiment(name)
    question.check_agrees()
    runs = records.recorded(question.name, question.Params)
    dates = [_date(question.recorded(params)) for params in runs]
    table = against_model(name).assign(recorded=dates).drop(columns="patched", errors="ignore")
    file = AGREEMENTS / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    return atomic.write(file, table.to_csv(index=False, lineterminator="\n"))


def agreements() -> pd.DataFrame:
    """Every experiment whose recorded runs a model was held against, the worst first.

    Returns
    -------
    DataFrame
        By experiment: `verdict`, that of its worst run; `runs`, and how many of them `failed`, are
        `undecided`, have `passed`, have `no model`; `counters` compared in them, and how many
        `agree`.
    """
    rows = {}
    for name in experiments():
        if (AGREEMENTS / f"{name}.csv").exists():
            runs = pd.read_csv(AGREEMENTS / f"{name}.csv")
            verdicts = (
                runs["verdict"].value_counts().reindex([*map(str, WORST_FIRST)], fill_value=0)
            )
            sums = runs[["counters", "agree"]].sum()
            rows[name] = {
                "verdict": str(worst(runs["verdict"])),
                "runs": len(runs),
                **verdicts,
                **sums,
            }
    table = pd.DataFrame.from_dict(rows, orient="index")
    ranked = table.assign(
        rank=table["verdict"].map(WORST_FIRST.index), share=table["agree"] / table["counters"]
    )
    order = ranked.sort_values(["rank", "share"], kind="stable").index
    return table.loc[order].rename_axis("experiment")


def refused() -> pd.DataFrame:
    """The recorded runs in which model and kernel differ: `experiment`, `parameters`, `method`."""
    tables = [
        pd.read_csv(AGREEMENTS / f"{name}.csv", keep_default_na=False).assign(experiment=name)
        for name in experiments()
        if (AGREEMENTS / f"{name}.csv").exists()
    ]
    every = pd.concat(tables)
    failed = every[every["verdict"] == str(AgreementVerdict.FAILED)]
    return failed[["experiment", "parameters", "method"]].reset_index(drop=True)


def unjudged() -> dict[str, str]:
    """Recorded runs that `agreements` does not have: when they were recorded, by experiment."""
    missing = {}
    for name, one in experiments().items():
        try:
            one.check_agrees()
        except BadInput:
            continue
        file = AGREEMENTS / f"{name}.csv"
        had = set(pd.read_csv(file)["recorded"]) if file.exists() else set()
        runs = (one.recorded(params) for params in records.recorded(name, one.Params))
        if lacking := {_date(record) for record in runs} - had:
            missing[name] = ", ".join(sorted(lacking))
    return missing


def _date(record: records.Record) -> str:
    return record.provenance.date.isoformat(timespec="seconds")
