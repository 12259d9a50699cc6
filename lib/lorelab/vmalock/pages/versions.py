"""The lock as it was posted and released: which configurations each version breaks."""

from typing import NamedTuple

import pandas as pd

from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import configurations, reader, writers
from lorelab.vmalock.params import Variant


class Fix(NamedTuple):
    """What a version lacked, as the model leaves it out, and what brought it."""

    lacked: str
    by: str


FIXES = {
    "detached": Fix(reader.DETACHED_CHECK, "v4 of the series"),
    "anon_vma": Fix(reader.ANON_FIRST, "657b5146955e"),
    "fork": Fix("vma_start_write in fork", "fb49c455323f"),
    "growth": Fix(writers.GROWS_AS_READER, "8d7071af8907 and c137381f71ae"),
}
VERSIONS = {
    "v2 and v3 as posted": (Variant.V2, tuple(FIXES)),
    "6.4": (Variant.V2, ("anon_vma", "fork", "growth")),
    "6.5": (Variant.V2, ()),
    "6.12.117": (Variant.V6_12, ()),
    "7.3.4": (Variant.V7_3, ()),
}
"""Sequence of the version, and what it lacked; of v2 and v3 at least that.

Up to 6.5 a new VMA was not write-locked either (33313a747e81), which mattered to nobody before
faults of files came under the VMA's lock.
"""


def broken(bits: int = 3) -> pd.DataFrame:
    """First rule that each version breaks, by configuration.

    Returns
    -------
    DataFrame
        A row for each configuration that some version breaks, a column for each of `VERSIONS`.
    """
    columns = {}
    for name, (variant, lacked) in VERSIONS.items():
        without = frozenset(FIXES[fix].lacked for fix in lacked)
        columns[name] = {
            configuration: rule.name if (rule := _rule(variant, chosen, without, bits)) else ""
            for configuration, chosen in configurations.CONFIGURATIONS.items()
        }
    table = pd.DataFrame(columns).rename_axis("configuration")
    return table[(table != "").any(axis=1)]


def _rule(variant, chosen, without, bits):
    known = {*configurations.step_names(variant, chosen), *configurations.CHANGES}
    return search(variant, chosen, bits, without & (known | {reader.DETACHED_CHECK})).rule


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
