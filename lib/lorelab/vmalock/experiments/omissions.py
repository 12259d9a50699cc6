"""Which steps of the protocol can be left out, one at a time, and nothing breaks?"""

import pandas as pd

from lorelab.checker import path
from lorelab.counters import table
from lorelab.params import label
from lorelab.vmalock.experiments.protocol import Searched, search
from lorelab.vmalock.model.protocol.configurations import (
    CONFIGURATIONS,
    MODEL,
    step_names,
)
from lorelab.vmalock.params import Omissions, Variant


def first_broken(variant: Variant, name: str, sequence_bits: int) -> tuple[str, Searched, int]:
    """The configuration in which the fewest steps break a rule without the step called `name`.

    Returns
    -------
    configuration, found, length : str, Searched, int
        Of the shortest counterexample; of the last configuration searched, with length 0, where
        no rule breaks in any.
    """
    best: tuple[str, Searched, int] | None = None
    for where, chosen in CONFIGURATIONS.items():
        if name not in step_names(variant, chosen):
            continue
        searched = search(variant, chosen, sequence_bits, frozenset([name]))
        length = 0
        if searched.rule:
            length = len(path(MODEL, searched.explored, searched.setting, searched.index))
        shorter = best is None or (length and (not best[2] or length < best[2]))
        if shorter:
            best = where, searched, length
    if best is None:
        raise ValueError(f"no configuration has a step called {name}")
    return best


def omissions(params: Omissions) -> pd.DataFrame:
    """A row for each name that leaves something out.

    Returns
    -------
    DataFrame
        `without`, `breaks` (the rule, empty where none breaks), `configuration` and `steps` of the
        shortest counterexample.
    """
    known = dict.fromkeys(
        name
        for chosen in CONFIGURATIONS.values()
        for name in step_names(params.variant, chosen, work=False)
    )
    rows = []
    for name in known:
        where, outcome, length = first_broken(params.variant, name, params.sequence_bits)
        rows.append(
            {
                "without": name,
                "breaks": outcome.rule.name if outcome.rule else "",
                "configuration": where if outcome.rule else "",
                "steps": length,
            }
        )
    return pd.DataFrame(rows)


def simulate(params: Omissions) -> pd.DataFrame:
    """How many omissions break a rule, and how many break none in these configurations."""
    every = omissions(params)
    broken = every["breaks"] != ""
    counters = {
        "omissions": ("steps", [len(every)]),
        "breaking": ("steps", [int(broken.sum())]),
        "redundant": ("steps", [int((~broken).sum())]),
    }
    counters |= {
        f"breaks_{rule.lower()}": ("steps", [int(count)])
        for rule, count in every.loc[broken, "breaks"].value_counts(sort=False).items()
    }
    return table("vmalock/omissions", label(params.variant), "model", counters, first=0)
