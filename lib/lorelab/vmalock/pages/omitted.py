"""Of steps of the protocol: why nothing breaks without some, and what breaks in another order."""

import pandas as pd

from lorelab.checker import path
from lorelab.params import label
from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import reader
from lorelab.vmalock.model.protocol.configurations import CONFIGURATIONS, MODEL, configuration
from lorelab.vmalock.params import Variant

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
            outcome = search(variant, chosen, sequence_bits, frozenset([change]))
            if outcome.rule:
                length = len(path(MODEL, outcome.explored, outcome.setting, outcome.index))
                broken.append((length, outcome.rule.name, name))
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
