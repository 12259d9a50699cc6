"""`vmalock/merge`: whether areas of several threads that became one VMA defeat its lock."""

import pandas as pd

from lorelab.vmalock.params import Merge
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/merge"


def simulate(params: Merge) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.merge(params)))
