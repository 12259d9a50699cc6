"""`gso/vhost`: whether a guest's packets are copied on their way through a bridge."""

import pandas as pd

from lorelab.gso.model.vhost import zerocopies
from lorelab.gso.params import Vhost
from lorelab.gso.workload.vhost import table


def simulate(params: Vhost) -> pd.DataFrame:
    """Send all.

    Returns
    -------
    DataFrame
        Totals by `UNITS`: packets that the guest got back, segments that left, those of them with
        what the guest wrote later, and calls of skb_segment(), skb_copy_ubufs() and
        vhost_zerocopy_complete().
    """
    segments = -(-params.length // params.segment)
    tries = zerocopies(params.sends, params.refcnt)
    copied = 0 if params.refcnt else tries
    found = {
        "told": params.sends,
        "sent": params.sends * segments,
        "wrong": 0,
        "segmentations": params.sends,
        "copies": copied,
        "copied_bytes": copied * params.length,
        # With the count each segment completes, and the packet that they were cut from.
        "completions": tries * (segments + 1) if params.refcnt else tries,
        "completions_copied": copied,
    }
    return table(params, found, "model")
