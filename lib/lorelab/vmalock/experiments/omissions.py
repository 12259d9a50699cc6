"""Which steps of the protocol can be left out, one at a time, and nothing breaks?"""

import pandas as pd

from lorelab.checker import path
from lorelab.counters import table
from lorelab.params import label
from lorelab.vmalock.experiments.protocol import Searched, search
from lorelab.vmalock.model.protocol import reader
from lorelab.vmalock.model.protocol.configurations import (
    CONFIGURATIONS,
    MODEL,
    configuration,
    step_names,
)
from lorelab.vmalock.params import Omissions, Variant

SAVES = "saves a locked operation; the late check decides"
OF_ANOTHER = "the threads of the second process, which would need it, are not here"
UNSEEN = {
    "early load of vm_lock_seq": SAVES,
    "early check": SAVES,
    "early comparison with mm_lock_seq": SAVES,
    "__is_vma_write_locked": "saves taking the VMA's lock again",
    "trylock for anon_vma": "guards neighbours that __anon_vma_prepare() looks at: not here",
    "mm_lock_seqcount_begin": "is for readers that take no lock at all: not here",
    "vma_start_write of the new VMA in split": "nobody changes that VMA once it is in the tree",
}
"""Why these can be left out and nothing breaks: what a step does that these searches do not see."""


EXCHANGES = {
    reader.RANGE_FIRST: (Variant.V6_12, "until August 2024; there vm_start was in a union"),
    reader.MARK_FIRST: (Variant.V7_3, "nobody's; tried here"),
}
"""Checks of a fault in the other order: the version that has them, and whose order it is."""
FURTHER = "fault:0+unmap:0+other:0+flags:1"
"""A VMA comes back in another process, with the number that the mm's sequence has just then."""


def exchanges(sequence_bits: int = 3) -> pd.DataFrame:
    """A row for each of `EXCHANGES`, over all configurations and `FURTHER`.

    Returns
    -------
    DataFrame
        `exchange`, `version`, `breaks` (the rule of the shortest counterexample, empty where none
        breaks), `configuration`, `steps`, and `whose`.
    """
    rows = []
    for change, (variant, whose) in EXCHANGES.items():
        broken = []
        for name, chosen in (CONFIGURATIONS | {FURTHER: configuration(FURTHER)}).items():
            found = search(variant, chosen, sequence_bits, frozenset([change]))
            if found.rule:
                length = len(path(MODEL, found.explored, found.setting, found.index))
                broken.append((length, found.rule.name, name))
        length, rule, where = min(broken, default=(0, "", ""))
        rows.append((change, label(variant), rule, where, length, whose))
    columns = ["exchange", "version", "breaks", "configuration", "steps", "whose"]
    return pd.DataFrame(rows, columns=columns)


def redundant(every: pd.DataFrame) -> pd.DataFrame:
    """The rows of `omissions` that break nothing, with why the searches do not see it.

    Returns
    -------
    DataFrame
        `without` and `why`, which is empty where nobody knows.
    """
    names = every.loc[every["breaks"] == "", "without"]
    whys = [UNSEEN.get(name, OF_ANOTHER if "another" in name else "") for name in names]
    return pd.DataFrame({"without": names.to_list(), "why": whys})


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
        where, found, length = first_broken(params.variant, name, params.sequence_bits)
        rows.append(
            {
                "without": name,
                "breaks": found.rule.name if found.rule else "",
                "configuration": where if found.rule else "",
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
