"""`gso/flag`: how often the word that a packet was copied is lost between CPUs."""

import pandas as pd

from lorelab import counters
from lorelab.gso.model.flag import interleavings
from lorelab.gso.params import Flag


def simulate(params: Flag) -> pd.DataFrame:
    """Go through every interleaving.

    Returns
    -------
    DataFrame
        `interleavings` of the loads and stores, and `lost`, those after which the sender is told
        the wrong thing.
    """
    ways = interleavings(params.sent, params.copied, params.mended)
    columns = {"interleavings": ("orders", [ways.all]), "lost": ("orders", [ways.lost])}
    variant = "mended" if params.mended else "upstream"
    return counters.table("gso/flag", variant, "model", columns, first=0)
