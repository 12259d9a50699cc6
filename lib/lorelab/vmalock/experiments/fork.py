"""`vmalock/fork`: what marking every VMA costs a fork, and the faults meanwhile."""

import pandas as pd

from lorelab.vmalock.experiments.outcome import counters, done
from lorelab.vmalock.params import Fork
from lorelab.vmalock.workload import programs

NAME = "vmalock/fork"


def simulate(params: Fork) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.experiments.outcome.counters`."""
    return counters(NAME, params, done(programs.fork(params)))
