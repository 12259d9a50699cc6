"""`fairzone/probed`: what a probe counts from outside against the counters of the patch."""

import pandas as pd

from lorelab.agreement import Agreement, Verdict
from lorelab.fairzone.params import Probed
from lorelab.lab.records import Record

PAIRS = {
    "zones.pages_0_0": ("allocated_0_dma", "pages"),
    "zones.pages_0_1": ("allocated_0_dma32", "pages"),
    "zones.pages_0_2": ("allocated_0_normal", "pages"),
    "zones.passes": ("passes", "passes"),
    "zones.slow": ("slowpaths", "entries"),
    "zones.refaults": ("workingset_refault_file", "pages"),
}
"""The probe's counters and those of the kernel that have to be the same."""

TOLD = ("zones.passes", "zones.slow")
"""What the probe counts where the patch does, so that it has to be the same: shown, not counted,
though one that is not fails."""


def agree(params: Probed, record: Record) -> Agreement:
    """Every pair that is counted in two places has to be equal."""
    said = record.counters.set_index("counter")["value"]
    rows = [
        {
            "counter": probe,
            "unit": unit,
            "probe": int(said.get(probe, 0)),
            "of": name,
            "kernel": int(said[name]),
            "agrees": int(said.get(probe, 0)) == int(said[name]),
        }
        for probe, (name, unit) in PAIRS.items()
    ]
    table = pd.DataFrame(rows)
    table["told"] = table["counter"].isin(TOLD)
    ours = table[~table["told"]]
    right = bool(table["agrees"].all()) and ours["probe"].sum() > 0
    judged = (
        f"{ours['agrees'].sum()} of {len(ours)} counters of the probe are the kernel's own, to the "
        f"page; told, and not counted: {', '.join(TOLD)}"
    )
    return Agreement(Verdict.PASSED if right else Verdict.FAILED, table, judged)
