"""Experiments run by name, and their counters by step and counter."""

import pandas as pd

from lorelab import counters
from lorelab.damon.params import Speeds
from lorelab.experiments import experiment
from lorelab.params import parse

SPEEDS = Speeds(access_ns=25, check_ns=90_000, cpus=1, tick_us=1000)
"""A slow machine of one CPU."""


def run(name: str, **given: object) -> pd.DataFrame:
    """Counters of a whole run by name, or of every step by step and name."""
    found = experiment(name)
    return wide(found.simulate(parse(found.Params, given)))


def wide(table: pd.DataFrame) -> pd.DataFrame:
    assert list(table.columns) == counters.COLUMNS
    return table.pivot_table(index="step", columns="counter", values="value")
