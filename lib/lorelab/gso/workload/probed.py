"""What the probe of `gso/probed` can follow, and its counters."""

import pandas as pd

from lorelab import counters
from lorelab.errors import BadInput
from lorelab.gso.params import Traffic, Variant
from lorelab.gso.workload.traffic import UNITS
from lorelab.params import label

NAME = "gso/probed"

KNOWN = (Variant.ORPHAN, Variant.SHARED_COUNT)

PACKETS = ("segments", "clones", "copies", "copied_bytes", "completions", "completions_copied")
"""What the probe counts of each packet."""


def check(params: Traffic) -> None:
    """Raise BadInput for what the probe cannot follow packet by packet."""
    if params.variant not in KNOWN:
        known = ", ".join(label(variant) for variant in KNOWN)
        raise BadInput(
            f"variant={label(params.variant)}: its segments have no ubuf_info that the probe could "
            f"tell them by; takes {known}"
        )
    if params.held:
        raise BadInput("held=true: takes false, for a completion then depends on time")


def table(
    params: Traffic,
    counted: dict[str, int],
    probed: dict[str, int],
    spread: dict[str, dict[int, int]],
    source: str,
) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel.

    Parameters
    ----------
    params : Traffic
    counted : dict
        Counters of `gso/traffic` that the run has.
    probed : dict
        Totals of the probe. It leaves out those of 0: one that can't be attached ends the run.
    spread : dict
        By `by_...` of the probe: packets by how many each had.
    source : str
    """
    columns = {name: (UNITS.get(name, "calls"), [value]) for name, value in counted.items()}
    for name in TOTALS:
        columns[f"probe_{name}"] = (TOTALS[name], [probed.get(name, 0)])
    parts = [counters.table(NAME, label(params.variant), source, columns, first=0)]
    for name in PACKETS:
        rows = sorted(spread.get(f"by_{name}", {}).items())
        part = counters.table(
            NAME,
            label(params.variant),
            source,
            {f"packets_by_{name}": ("packets", [value for _, value in rows])},
        )
        parts.append(part.assign(step=[step for step, _ in rows]))
    return pd.concat(parts, ignore_index=True)


TOTALS = {
    "segmentations": "packets",
    "segments": "segments",
    "clones": "calls",
    "copies_0": "calls",
    "copies_1": "calls",
    "copied_bytes": "bytes",
    "completions_0": "calls",
    "completions_1": "calls",
    "told_0": "packets",
    "told_1": "packets",
}
"""Totals of the probe `zerocopy`, and their units."""
