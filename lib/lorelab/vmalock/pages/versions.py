"""The lock as it was released: which configurations each version breaks."""

from typing import NamedTuple

import pandas as pd

from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import configurations, reader, writers
from lorelab.vmalock.pages import wraps
from lorelab.vmalock.params import Variant


class Fix(NamedTuple):
    """What a version lacked, as the model leaves it out, and what brought it."""

    lacked: str
    by: str


FIXES = {
    "detached": Fix(reader.DETACHED_CHECK, "v3 of the series; v2 walked the tree again instead"),
    "anon_vma": Fix(reader.ANON_FIRST, "657b5146955e"),
    "fork": Fix("vma_start_write in fork", "fb49c455323f"),
    "growth": Fix(writers.GROWS_AS_READER, "8d7071af8907 and c137381f71ae"),
}
RESETS = frozenset([writers.RESET])
"""7135a05838e8 as its message has it."""
LATER = ("anon_vma", "fork", "growth")
RANGE_FIRST = frozenset([reader.RANGE_FIRST])
VERSIONS = {
    "v2 as posted": (Variant.V2, LATER, RANGE_FIRST | {reader.WALKS_AGAIN}),
    "v3 and 6.4.0": (Variant.V2, LATER, RANGE_FIRST),
    "6.5": (Variant.V2, (), RANGE_FIRST),
    "6.12.117": (Variant.V6_12, (), frozenset()),
    "7.3.4": (Variant.V7_3, (), frozenset()),
    "7.3.4 + reset": (Variant.V7_3, (), RESETS),
}
"""Sequence of the version, what it lacked, and how it differs besides.

What a fault does in v2 and v3 was read in their patches (v2 23 and 24, v3 24 and 25). That a fork
write-locks no VMA of the parent, and a stack that grows none, is read off the lists of patches,
which have none for it.
Where a VMA of v2 leaves the tree the model sets `detached` all the same, for the rules: no fault of
v2 looks at it.

Up to 6.5 a new VMA was not write-locked either (33313a747e81), which mattered to nobody before
faults of files came under the VMA's lock.
"""


def broken(bits: int = 3) -> pd.DataFrame:
    """First rule that each version breaks, by configuration.

    Returns
    -------
    DataFrame
        A row for each configuration that some version breaks, and for each writer that meets a
        fault at a wrap (`wraps.wrapped`, in VMAs that were write-locked once); a column for each of
        `VERSIONS`.
    """
    columns = {}
    for name, (variant, lacked, changes) in VERSIONS.items():
        without = frozenset(FIXES[fix].lacked for fix in lacked) | changes
        rules = {
            configuration: _rule(variant, chosen, without, bits)
            for configuration, chosen in configurations.CONFIGURATIONS.items()
        }
        for writer in wraps.WRITERS:
            there = known(variant, wraps.through_a_wrap(writer, 1))
            rules[f"{writer}, at a wrap"] = wraps.wrapped(
                variant, writer, without & there, True
            ).rule
        columns[name] = {row: rule.name if rule else "" for row, rule in rules.items()}
    table = pd.DataFrame(columns).rename_axis("configuration")
    return table[(table != "").any(axis=1)]


def _rule(variant, chosen, without, bits):
    return search(variant, chosen, bits, without & known(variant, chosen)).rule


def known(variant: Variant, chosen: configurations.Configuration) -> set[str]:
    """What can be left out of a configuration's programs, and every change."""
    names = configurations.step_names(variant, chosen)
    return {*names, *configurations.CHANGES, reader.DETACHED_CHECK}


def alone(bits: int = 3) -> pd.DataFrame:
    """Configurations that break where one of `FIXES` alone is lacking, and what brought it."""
    rows = []
    for name, fix in FIXES.items():
        without = frozenset([fix.lacked])
        hit = [
            configuration
            for configuration, chosen in configurations.CONFIGURATIONS.items()
            if _rule(Variant.V2, chosen, without, bits)
        ]
        rows.append((name, ", ".join(hit), fix.by))
    return pd.DataFrame(rows, columns=["lacking", "breaks in", "brought by"]).set_index("lacking")
