"""`gso/traffic`: copies, completions and wrong packets of many sends, and what they cost."""

import numpy as np
import pandas as pd

from lorelab.gso.model.layout import place, small_head_cache, truesize
from lorelab.gso.model.netem import probability
from lorelab.gso.model.structs import SHARED_INFO_6_12
from lorelab.gso.model.traffic import COUNTED, LATER, PROBED, SETTING, run
from lorelab.gso.params import TRAITS, Traffic
from lorelab.gso.workload.traffic import table

SK_BUFF, HEADERS = 208, 128
"""sizeof(struct sk_buff) of 6.12 [bytes]; headers and headroom of a segment of UDP, at most."""
MAX_HEADER = 80
"""Of the laboratory's config: Ethernet, and IPv6 in IPv4 [bytes]."""


def setting(params: Traffic) -> np.ndarray:
    """What the model reads; shape (1,)."""
    traits = TRAITS[params.variant]
    shares = {name: probability(getattr(params, name)) for name in ("loss", "reorder")}
    laid = place(SHARED_INFO_6_12)
    info = laid.size + traits.shared_info_bytes
    sk_buff = SK_BUFF + traits.sk_buff_bytes
    sizes = {
        "head_truesize": truesize(HEADERS, info, sk_buff, small_head_cache(info, MAX_HEADER)),
        "info_bytes": laid.offset("frags[0]") + traits.shared_info_bytes,
    }
    values = apart(params.model_dump() | shares, traits._asdict(), sizes)
    return np.array([tuple(values[name] for name in SETTING.names)], SETTING)


def apart(*sources: dict[str, object]) -> dict[str, object]:
    """All of the sources in one dictionary.

    Raises
    ------
    ValueError
        Two of them have a name in common, so that one value would take the place of the other.
    """
    union: dict[str, object] = {}
    for source in sources:
        if both := sorted(union.keys() & source.keys()):
            raise ValueError(f"{', '.join(both)}: is the name of two things that the model reads")
        union |= source
    return union


def count(params: Traffic) -> dict[str, int]:
    """Every counter of the model."""
    counted = np.zeros(1, COUNTED)
    run(setting(params), np.uint64(params.seed), counted)
    return {name: int(counted[name][0]) for name in COUNTED.names}


def simulate(params: Traffic) -> pd.DataFrame:
    """Send all.

    Returns
    -------
    DataFrame
        Totals by `PROBED` and `LATER`; and `copied_by_send`, what send() copies instead of lending,
        which `copied_bytes`, of skb_copy_ubufs(), has nothing of.
    """
    counted = count(params)
    shown = {name: counted[name] for name in PROBED + LATER}
    copies = TRAITS[params.variant].at_send or not params.zerocopy
    copied = params.sends * params.length if copies else 0
    return table(params, shown | {"copied_by_send": copied}, "model")
