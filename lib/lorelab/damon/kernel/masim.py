"""`damon/masim` on a real kernel."""

import pandas as pd

from lorelab.damon.kernel.boot import (
    check_program,
    logged,
    observation,
    speeds,
    takes_patches,
    watched,
)
from lorelab.damon.params import Masim
from lorelab.damon.workload.truth import masim_counters, observed
from lorelab.lab.run import Measured, Measurement


def _counters(params: Masim, measured: Measured, run: int) -> pd.DataFrame:
    [played] = logged([params], measured, run)
    took = speeds(params, played)
    return masim_counters(observed(params, observation(played), took), params, "kernel", took)


measure = Measurement(
    "damon/masim",
    watched,
    _counters,
    machine=takes_patches,
    check=lambda params, _: check_program(params),
)
