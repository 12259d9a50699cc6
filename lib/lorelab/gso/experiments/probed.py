"""`gso/probed`: what a probe on an unmodified kernel sees of `gso/traffic`."""

import pandas as pd

from lorelab.gso.experiments.traffic import count
from lorelab.gso.model.traffic import PROBED
from lorelab.gso.params import TRAITS, Traffic
from lorelab.gso.workload.probed import PACKETS, check, table


def simulate(params: Traffic) -> pd.DataFrame:
    """Send all, and count what the probe counts.

    Returns
    -------
    DataFrame
        The counters of `gso/traffic`; those of the probe, `probe_...`; and of each of `PACKETS` how
        many packets have so many, `packets_by_...`, the number in `step`.
    """
    check(params)
    counted = count(params)
    copies_first = TRAITS[params.variant].copies
    segments = -(-params.length // params.segment)
    live = params.zerocopy and segments > 1
    flagged = live and not copies_first
    mine = {
        "segmentations": counted["segmentations"] * live,
        "segments": counted["sent"] * live,
        "clones": counted["clones"] * flagged,
        "copies_0": counted["copies"] * copies_first,
        "copies_1": counted["copies"] * flagged,
        "copied_bytes": counted["copied_bytes"],
        "completions_0": counted["completions_copied"],
        "completions_1": counted["completions"] - counted["completions_copied"],
        "told_0": counted["copied"],
        "told_1": counted["told"] - counted["copied"],
    }
    # All packets of a run meet the same. One that is copied first has none left of its segments.
    each = {name: counted[name] for name in PACKETS if name in counted}
    each |= {"segments": mine["segments"] * flagged, "clones": mine["clones"]}
    spread = {f"by_{name}": {each[name] // params.sends: params.sends} for name in PACKETS if live}
    return table(params, {name: counted[name] for name in PROBED}, mine, spread, "model")
