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
    found = {
        "unsafe": ("packets", [int(places[:-1].sum())]),
        "exposed": ("segments", [int((places.astype(np.int64) * left).sum())]),
    }
    return counters.table("gso/lastsegment", "last-segment", "model", found, first=0)


def closed_form(segments: int) -> float:
    """Share of packets told of too early, every order being as likely: 1 - 1/k."""
    return 1 - 1 / segments


def shares(segments: list[int], packets: int = 100_000, seed: int = 1) -> pd.DataFrame:
    """Drawn and expected shares of unsafe packets, by number of segments.

    Returns
    -------
    DataFrame
        `segments`, `drawn`, `expected`, and `sigma`, the drawn share's distance from the expected
        one in standard deviations.
    """
    rows = []
    for k in segments:
        table = simulate(LastSegment(segments=k, packets=packets, seed=seed))
        drawn = float(table.set_index("counter")["value"]["unsafe"]) / packets
        expected = closed_form(k)
        deviation = (expected * (1 - expected) / packets) ** 0.5
        rows.append((k, drawn, expected, (drawn - expected) / deviation if deviation else 0.0))
    return pd.DataFrame(rows, columns=["segments", "drawn", "expected", "sigma"])
