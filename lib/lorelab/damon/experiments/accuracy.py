"""`damon/accuracy`: how far from the truth a run was, in a handful of figures."""

import numpy as np
import pandas as pd

from lorelab.damon.experiments.masim import observe
from lorelab.damon.params import ALONE, Accuracy, Speeds, runs
from lorelab.damon.workload.accuracy import accuracy_counters, figures
from lorelab.damon.workload.setup import configuration


def simulate(params: Accuracy, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Simulate `damon/accuracy`: how far each run was from the truth, in a handful of figures.

    Returns
    -------
    DataFrame
        A step a run, with seeds from `seed` on.
    """
    speeds = speeds._replace(sleep_us=params.sample_us)
    found = [figures(observe(one, speeds), planned(one), one, speeds) for one in runs(params)]
    return accuracy_counters(found, params, "model")


def planned(params: Accuracy) -> list[float]:
    """When each phase of the program but the first is to begin, in seconds."""
    return np.cumsum([phase.ms / 1000 for phase in configuration(params).phases])[:-1].tolist()
