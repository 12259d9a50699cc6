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
        vhost_zerocopy_complete(). Of TCP nobody checks what the guest wrote. To a tap that nobody
        reads none leaves, and `waiting` says whether the guest, as it exits, waits for one.
    """
    segments = -(-params.length // params.segment)
    shared = params.refcnt and not params.unread
    tries = zerocopies(params.sends, shared) if params.zerocopy else 0
    if not params.refcnt:
        copies = tries
    elif params.unread:  # tun_net_xmit() copies what will wait in the tap's ring
        copies = tries * segments
    else:
        copies = 0
    columns = {
        "told": params.sends,
        **({"waiting": 0} if params.unread else {"sent": params.sends * segments}),
        **({} if params.unread or params.protocol == "tcp" else {"wrong": 0}),
        "segmentations": params.sends,
        "copies": copies,
        "copied_bytes": tries * params.length if copies else 0,
        # With the count each segment completes, and the packet that they were cut from.
        "completions": tries * (segments + 1) if params.refcnt else tries,
        "completions_copied": copies,
    }
    return table(params, columns, "model")
