"""`vmalock/launch`: how long it takes until a hundred new threads are at work."""

import pandas as pd

from lorelab.vmalock.params import Launch, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/launch"


def simulate(params: Launch) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
    return counters(NAME, params, done(programs.launch(params)))


def by_cpus(cpus: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 100)) -> pd.DataFrame:
    """Counters of a launch with 6.12's lock and with mmap_lock alone, column `cpus`."""
    return pd.concat(
        simulate(Launch(cpus=number, policy=policy)).assign(cpus=number)
        for number in cpus
        for policy in (Variant.MMAP_LOCK, Variant.V6_12)
    )
