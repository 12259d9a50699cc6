"""Which barriers does the protocol need, and is the end of a writer's sequence a release?"""

import pandas as pd

from lorelab.counters import table
from lorelab.vmalock.model.litmus import Machine, allowed
from lorelab.vmalock.model.litmus_tests import TESTS
from lorelab.vmalock.params import Litmus

CHOSEN = {name: name.split("-")[0] for name in TESTS}
"""The letter and number by which a test is asked for."""


def simulate(params: Litmus) -> pd.DataFrame:
    """Whether each test's outcome can be, machine by machine: 1 or 0; the variant is the test."""
    runs = []
    for name, test in TESTS.items():
        if params.test in ("all", CHOSEN[name]):
            counters = {
                f"allowed_{machine.name.lower()}": ("outcome", [int(allowed(test, machine)[0])])
                for machine in Machine
            }
            runs.append(table("vmalock/litmus", name, "model", counters, first=0))
    return pd.concat(runs, ignore_index=True)
