"""`vmalock/launch`: how long it takes until a hundred new threads are at work."""

import pandas as pd

from lorelab.vmalock.experiments.outcome import counters, done
from lorelab.vmalock.params import Launch
from lorelab.vmalock.workload import programs

NAME = "vmalock/launch"


def simulate(params: Launch) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.experiments.outcome.counters`."""
    return counters(NAME, params, done(programs.launch(params)))
