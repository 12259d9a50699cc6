"""Which sends of `gso/told` are copied, and its counters."""

import pandas as pd

from lorelab import counters
from lorelab.gso.model.told import Notification
from lorelab.gso.params import Told

UNITS = {
    "copied": "sends",
    "notifications": "notifications",
    "told": "sends",
    "told_copied": "sends",
    "told_wrong": "sends",
}


def kinds(params: Told) -> list[bool]:
    """Of each send, whether its bytes are copied."""
    return [bool(send // params.alike % 2) != params.copied_first for send in range(params.sends)]


def table(params: Told, queue: list[Notification], copied: int, source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel."""
    was = kinds(params)
    heard = [(send, one.copied) for one in queue for send in range(one.low, one.high + 1)]
    sums = {
        "copied": copied,
        "notifications": len(queue),
        "told": len(heard),
        "told_copied": sum(copy for _, copy in heard),
        "told_wrong": sum(copy != was[send] for send, copy in heard),
    }
    named = {name: (UNITS[name], [value]) for name, value in sums.items()}
    variant = "mended" if params.mended else "fixed" if params.fixed else "upstream"
    return counters.table("gso/told", variant, source, named, first=0)
