"""`swap/switches`: the allocator's test under each of its switches, in turns and in one boot.

Runs of one boot share the kernel's memory, its caches, and what a switch may leave behind. So the
settings follow one another (A B C ... A B C ...): a run that depended on the one before it, or on
how long the kernel has been up, would differ from turn to turn, and from the model, which starts
each run anew.
"""

import pandas as pd

from lorelab.swap.experiments import allocator_test, paths
from lorelab.swap.params import Switches
from lorelab.swap.workload.switches import in_turns, settings


def simulate(params: Switches) -> pd.DataFrame:
    """Run all settings on the model: a turn is what the last one was, for the model leaves nothing.

    Returns
    -------
    DataFrame
        As `in_turns` lays it out.
    """
    runs = {
        setting: [allocator_test.simulate(test), paths.simulate(test)]
        for setting, test in settings(params).items()
    }
    return in_turns(
        params.iterations,
        (
            (turn, setting, table)
            for turn in range(params.turns)
            for setting, tables in runs.items()
            for table in tables
        ),
    )
