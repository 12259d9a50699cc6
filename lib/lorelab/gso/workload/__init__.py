"""Programs of the chapter, and counters that model and kernel give."""

import pandas as pd

from lorelab import counters


def totals(
    name: str, variant: str, units: dict[str, str], values: dict[str, int], source: str
) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those of `units` that it has."""
    named = {each: (unit, [values[each]]) for each, unit in units.items() if each in values}
    return counters.table(name, variant, source, named, first=0)
