"""`vmalock/zerocopy`: threads that receive without copying, and one that calls madvise()."""

import pandas as pd

from lorelab.vmalock.params import Zerocopy
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/zerocopy"


def simulate(params: Zerocopy) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.zerocopy(params)))
