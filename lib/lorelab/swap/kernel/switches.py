"""`swap/switches` on a real kernel: all settings in one boot, one after the other, in turns."""

from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.swap.experiments.switches import NAME, in_turns, settings
from lorelab.swap.kernel import allocator_test, boot, paths
from lorelab.swap.params import Switches


def measure(wanted: list[Switches], lab: Lab) -> list[Record]:
    """Run `swap/allocator-test` under all `settings`, in turns; a boot for each of `wanted`.

    Returns
    -------
    list of Record
        As asked: both what `swap/allocator-test` and what `swap/paths` counts, laid out by
        `in_turns`.

    Raises
    ------
    BadInput, RunFailed
        As `lorelab.swap.kernel.paths.measure`.
    """
    for test in (test for params in wanted for test in settings(params).values()):
        paths.check(test, lab)
    return [_measure(params, lab) for params in wanted]


def _measure(params: Switches, lab: Lab) -> Record:
    named = settings(params)
    runs = [boot.Run(test, paths.counted(test)) for test in named.values()]
    measured = boot.zram(boot.Runs(runs, turns=params.turns), lab)
    found = in_turns(
        params.iterations,
        (
            (turn, setting, told(test, boot.rows_of(measured, number, turn)))
            for turn in range(params.turns)
            for number, (setting, test) in enumerate(named.items())
            for told in (allocator_test.iterations, paths.totals)
        ),
    )
    return measured.record(NAME, params, found)
