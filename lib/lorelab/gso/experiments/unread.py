"""`gso/unread`: a sender whose neighbour's tap or raw socket is not read."""

import pandas as pd

from lorelab.gso.model.unread import left
from lorelab.gso.params import Unread
from lorelab.gso.workload.unread import table


def simulate(params: Unread) -> pd.DataFrame:
    """Send all and go, then read.

    Returns
    -------
    DataFrame
        Totals by `UNITS`: sends that the socket took at once, those it told of and those told of as
        copied; then, with the socket closed and the sender gone, whether the user's next zero-copy
        send is `refused`, whether the sender's network namespace is `left`, and pages that are
        still `pinned`; packets that are `read` at last, and what is there after that.
    """
    raw = params.receiver == "raw"
    orphans = raw or params.receiver == "tun"
    copies = not params.deferred if raw else orphans or not params.csum or params.fixed
    sums = left(params.sends, params.length, params.sndbuf, params.zerocopy, copies, orphans)
    return table(
        params,
        {
            "taken": sums.taken,
            "told": sums.told,
            "copied": sums.copied,
            "refused": int(params.zerocopy and sums.taken - sums.told == params.sends),
            "left": int(sums.owned),
            "pinned": sums.pinned,
            "read": sums.taken,
            "left_read": 0,
            "pinned_read": 0,
        },
        "model",
    )
