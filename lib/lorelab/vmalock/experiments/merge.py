"""`vmalock/merge`: whether areas of several threads that became one VMA defeat its lock."""

import pandas as pd

from lorelab.vmalock.experiments.outcome import counters, done
from lorelab.vmalock.params import Merge
from lorelab.vmalock.workload import programs

NAME = "vmalock/merge"


def simulate(params: Merge) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.experiments.outcome.counters`."""
    return counters(NAME, params, done(programs.merge(params)))
