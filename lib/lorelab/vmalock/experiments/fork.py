"""`vmalock/fork`: what marking every VMA costs a fork, and the faults meanwhile."""

import pandas as pd

from lorelab.vmalock.params import Fork
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/fork"


def simulate(params: Fork) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.fork(params)))
