"""`faultaround/faults` in the model."""

import pandas as pd

from lorelab.faultaround.model.memory import read
from lorelab.faultaround.params import Faults
from lorelab.faultaround.workload import cached, reads, table
from lorelab.numerics import ONE, U


def simulate(params: Faults) -> pd.DataFrame:
    """Counters of one run, a step for each fault."""
    faults = read(reads(params), cached(params), U(params.first), ONE << U(params.order))
    return table(params, "model", faults)
