"""`swap/switches` on a real kernel: all settings in one boot, one after the other, in turns."""

import pandas as pd

from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.swap.kernel import allocator_test, boot, paths
from lorelab.swap.params import Switches
from lorelab.swap.workload.switches import NAME, in_turns, settings


def _check(params: Switches, options: RunOptions) -> None:
    for test in settings(params).values():
        paths.check(test, options)


def _request(batch: list[Switches]) -> Request:
    [params] = batch
    runs = [boot.Run(test, paths.counted(test)) for test in settings(params).values()]
    return boot.zram(boot.Runs(runs, turns=params.turns))


def _counters(params: Switches, measured: Measured, run: int) -> pd.DataFrame:
    """What `swap/allocator-test` and what `swap/paths` count, laid out by `in_turns`."""
    return in_turns(
        params.iterations,
        (
            (turn, setting, counters(test, boot.rows_of(measured, number, turn)))
            for turn in range(params.turns)
            for number, (setting, test) in enumerate(settings(params).items())
            for counters in (allocator_test.iterations, paths.totals)
        ),
    )


measure = Measurement(NAME, _request, _counters, check=_check)
