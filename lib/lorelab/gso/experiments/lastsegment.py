"""`gso/lastsegment`: how often the last segment is not the last to go."""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.gso.model.lastsegment import draw
from lorelab.gso.params import LastSegment


def simulate(params: LastSegment) -> pd.DataFrame:
    """Free packets in random orders.

    Returns
    -------
    DataFrame
        `unsafe` packets, of which a segment was still there when the sender was told, and
        `exposed` segments, those that were; step 0.
    """
    places = np.zeros(params.segments, np.uint64)
    draw(np.uint64(params.segments), np.uint64(params.packets), np.uint64(params.seed), places)
    left = np.arange(params.segments)[::-1]
    columns = {
        "unsafe": ("packets", [int(places[:-1].sum())]),
        "exposed": ("segments", [int((places.astype(np.int64) * left).sum())]),
    }
    return counters.table("gso/lastsegment", "last-segment", "model", columns, first=0)
