"""`swap/allocator-test`: the kernel's own test of the slot allocator, iteration by iteration."""

import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.params import AllocatorTest
from lorelab.swap.workload.allocator_test import run

NAME = "swap/allocator-test"


def simulate(params: AllocatorTest) -> pd.DataFrame:
    """Run the test on the model.

    Returns
    -------
    DataFrame
        Counters `swpout` and `swpout_fallback`, in folios, per iteration.
    """
    found = run(params, NAME).iterations.astype([("swpout", "i8"), ("swpout_fallback", "i8")])
    counted = {name: ("folios", found[name]) for name in found.dtype.names}
    return counters.table(NAME, label(params.variant), "model", counted)
