"""`vmalock/contention`: threads that fault and, now and then, change a VMA."""

import pandas as pd

from lorelab.vmalock.params import Contention
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/contention"


def simulate(params: Contention) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.contention(params)))
