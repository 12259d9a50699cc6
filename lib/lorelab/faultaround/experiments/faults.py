"""`faultaround/faults` in the model."""

import pandas as pd

from lorelab.counters import table
from lorelab.faultaround.model.memory import read
from lorelab.faultaround.params import Faults
from lorelab.faultaround.workload import COUNTERS, cached, reads
from lorelab.numerics import ONE, U


def simulate(params: Faults) -> pd.DataFrame:
    """Counters of one run, a step for each fault."""
    found = read(reads(params), cached(params), U(params.first), ONE << U(params.order))
    columns = zip(COUNTERS.items(), found.astype("int64").T, strict=True)
    counters = {name: (unit, values) for (name, unit), values in columns}
    return table("faultaround/faults", "v6.12", "model", counters)
