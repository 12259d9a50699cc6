"""What is wrong when the sequences have wrapped: false locked, and never false unlocked?"""

import pandas as pd

from lorelab.checker import explore
from lorelab.counters import table
from lorelab.params import label
from lorelab.vmalock.model.protocol import configurations, wrapping
from lorelab.vmalock.model.protocol.configurations import MODEL, Configuration
from lorelab.vmalock.params import Wrap

UNITS = {"taken_for_marked": "states", "overtaken": "states"}


def chosen(params: Wrap) -> Configuration:
    """A fault and a writer in VMA 1, and writers in VMA 2."""
    return Configuration((("fault", 0), ("flags", 0), *[("flags", 1)] * params.others))


def simulate(params: Wrap) -> pd.DataFrame:
    """Counts over all states that can be reached, wherever rules break; see `wrapping.compared`."""
    threads = chosen(params)
    configurations.programs(params.variant, threads, frozenset())
    configurations.check_size(params.variant, threads, params.sequence_bits)
    setting = configurations.setting(
        params.variant, threads, params.sequence_bits, rules=frozenset()
    )
    begun = configurations.first(params.variant, threads, params.sequence_bits)
    explored = explore(MODEL, begun, setting)
    counters = {"states": ("states", [len(explored.states)])}
    for name, value in wrapping.count(explored.states, setting).items():
        counters[name] = (UNITS.get(name, "comparisons"), [value])
    return table("vmalock/wrap", label(params.variant), "model", counters, first=0)
