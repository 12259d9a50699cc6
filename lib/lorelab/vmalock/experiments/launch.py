"""`vmalock/launch`: how long it takes until a hundred new threads are at work."""

import pandas as pd

from lorelab.vmalock.params import Launch
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/launch"


def simulate(params: Launch) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.launch(params)))
