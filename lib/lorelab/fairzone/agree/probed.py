"""`fairzone/probed`: what a probe counts from outside against the counters of the patch."""

import pandas as pd

from lorelab.fairzone.model.zones import calculate_normal_threshold
from lorelab.fairzone.params import Probed
from lorelab.judging.agreement import IDENTITY, Agreement
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

IDENTITIES = ("zones.passes", "zones.slow")
"""What the probe counts where the patch does, so that it has to be the same: shown, not counted,
though one that is not fails."""

LOST = "zones.lost"
"""Events that the probe missed: the one counter of a probe that is always there."""

PENDING = ("zones.refaults",)
"""What the kernel counts for the node: each CPU keeps a part to itself until that is above a
threshold, and /proc/vmstat leaves it out (mod_node_page_state(), mm/vmstat.c)."""


def pending(params: Probed) -> int:
    """Pages by which a counter of the node may be off: what CPUs keep when a run begins and ends.

    The node's threshold is that of its largest zone (refresh_zone_stat_thresholds()), which is no
    larger than the guest.
    """
    return 2 * params.cpus * calculate_normal_threshold(params.mib * 256, params.cpus)


def agree(params: Probed, record: Record) -> Agreement:
    """Every pair that is counted in two places has to be equal, but for what CPUs keep."""
    said = record.counters.set_index("counter")["value"]
    # A probe leaves counts of 0 out (`lab.probes.counters`); one that did not run has no LOST.
    unseen = 0 if LOST in said else float("nan")
    rows = [
        {
            "counter": probe,
            "unit": unit,
            "probe": said.get(probe, unseen),
            "of": name,
            "kernel": int(said[name]),
            "off by at most": pending(params) if probe in PENDING else 0,
        }
        for probe, (name, unit) in PAIRS.items()
    ]
    table = pd.DataFrame(rows)
    table["agrees"] = (table["probe"] - table["kernel"]).abs() <= table["off by at most"]
    table["detectable"] = 0.0
    identical = table["counter"].isin(IDENTITIES)
    # A probe that saw nothing at all agrees with nothing.
    table["agrees"] &= table.loc[~identical, "probe"].sum() > 0
    ours = table[~identical]
    method = (
        f"{ours['agrees'].sum()} of {len(ours)} counters of the probe are the kernel's own, to the "
        f"page, but for {pending(params)} that its CPUs may keep of {', '.join(PENDING)}; "
        f"identities, and not counted: {', '.join(IDENTITIES)}"
    )
    return Agreement.of(table, method, dict.fromkeys(IDENTITIES, IDENTITY))
