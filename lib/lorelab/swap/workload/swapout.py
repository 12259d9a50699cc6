"""What `swap/swapout` counts."""

from lorelab.swap.model.reclaim import UNITS

NAME = "swap/swapout"

COUNTED = {
    name: UNITS[name]
    for name in (
        "swapped",
        "invalidations",
        "flushes",
        "splits",
        "slot_allocations",
        "fallbacks",
        "bios",
    )
} | {"shrinker_splits": "folios"}
"""Counters and units: those of `swap/usemem` that a kernel gives, and, of the splits, those that
the shrinker of the deferred split queue made."""
