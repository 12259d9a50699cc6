"""`fairzone/probed`: what a probe counts from outside against the counters of the patch."""

import pandas as pd

from lorelab.fairzone.model.zones import calculate_normal_threshold
from lorelab.fairzone.params import Probed
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.judging.agreement import IDENTITY, Agreement
from lorelab.lab.probes import counted
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
"""What the probe counts at the patch's own calls and nowhere else."""

PENDING = ("zones.refaults",)
"""What the kernel counts for the node: each CPU keeps a part to itself until that is above a
threshold, and /proc/vmstat leaves it out (mod_node_page_state(), mm/vmstat.c)."""


def pending(params: Probed) -> int:
    """Pages by which a counter of the node may be off: what CPUs keep when a run begins and ends.

    The node's threshold is that of its largest zone (refresh_zone_stat_thresholds()), which is no
    larger than the guest.
    """
    return 2 * params.cpus * calculate_normal_threshold(params.mib * PAGES_A_MIB, params.cpus)


def agree(params: Probed, record: Record) -> Agreement:
    """Every pair that is counted in two places has to be equal, but for what CPUs keep."""
    values = record.counters.set_index("counter")["value"]
    rows = [
        {
            "counter": probe,
            "unit": unit,
            "probe": counted(values, probe),
            "of": name,
            "kernel": int(values[name]),
            "off by at most": pending(params) if probe in PENDING else 0,
        }
        for probe, (name, unit) in PAIRS.items()
    ]
    # Int64 keeps counts whole, also beside one of a probe that did not run.
    table = pd.DataFrame(rows).astype({"probe": "Int64"})
    off, slack = (table["probe"] - table["kernel"]).abs().astype(float), table["off by at most"]
    table["agrees"] = off <= slack
    # What is within the slack would not have been refused; of no slack each deviation would.
    table["detectable"] = (slack / table["kernel"]).where(slack > 0, 0.0).where(off.notna())
    ours = table[~table["counter"].isin(IDENTITIES)]
    method = (
        f"{ours['agrees'].sum()} of {len(ours)} counters of the probe are the kernel's own, to the "
        f"page, but for {pending(params)} that its CPUs may keep of {', '.join(PENDING)}"
    )
    return Agreement.of(table, method, dict.fromkeys(IDENTITIES, IDENTITY))
