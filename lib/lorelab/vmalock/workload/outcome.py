"""A run of the performance model to its end, and its counters as a table."""

import pandas as pd

from lorelab.counters import table
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import COUNT, Machine
from lorelab.vmalock.model.tally import UNITS, tally
from lorelab.vmalock.params import Timed


def done(machine: Machine) -> Machine:
    """Run a machine to its end."""
    if not run(machine):
        raise RunFailed("threads of the model are left that nothing wakes; this is a defect of it")
    return machine


def counters(name: str, params: Timed, machine: Machine) -> pd.DataFrame:
    """Counters of a machine that has run (see `lorelab.counters`), all of step 0.

    `reader_wait` and `writer_wait` are means over those that had to wait for mmap_lock.
    """
    rows = zip(UNITS.items(), tally(machine), strict=True)
    values = {each: (unit, value) for (each, unit), value in rows}
    laid = {each: (unit, [value]) for each, (unit, value) in values.items()}
    return table(name, label(params.variant), "model", laid, first=0)


def totals(machine: Machine) -> dict[str, int]:
    """The model's own counters by name."""
    return {each: int(machine.count[n]) for each, n in COUNT.items()}
