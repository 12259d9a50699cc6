"""The panel of `vmalock/contention`: threads that fault and, now and then, change a VMA."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.numerics import U, njit
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import PROGRAM, lay_out
from lorelab.vmalock.model.tally import UNITS, tally
from lorelab.vmalock.pages import charts
from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.costs import INSTRUCTIONS
from lorelab.vmalock.workload.programs import FOREVER

CHOICES: dict[str, tuple[str, ...]] = {}
COUNTERS = UNITS
MORE = ()
FIRST = 0
VARIANT = "variant"
MACHINES = [programs.contention(Contention(variant=variant)) for variant in Variant]
GIVEN = np.concatenate([machine.globals for machine in MACHINES])
"""What a variant can do, and the kernel's constants."""
OPERATION = MACHINES[0].program[:1].copy()
FAULT, WALK, CHECKS, COPY, ANON_VMA, MARK, MPROTECT = (
    INSTRUCTIONS[name]
    for name in ("fault", "walk", "checks", "copy", "anon_vma", "mark", "mprotect")
)


@njit
def entry(params):
    """Run the threads; one row, a column for each of `COUNTERS`.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Contention`.
    """
    p = params[0]
    settings = GIVEN[p.variant : p.variant + 1].copy()
    g = settings[0]
    g.cpus = p.cpus
    g.vmas = p.vmas
    g.remote = p.remote_ns
    g.wake = p.wake_ns
    g.start = p.start_ns
    g.local = p.local_ns
    g.switch = p.switch_ns
    g.walk, g.checks = WALK // p.per_ns, CHECKS // p.per_ns
    g.copy, g.anon_vma, g.mark = COPY // p.per_ns, ANON_VMA // p.per_ns, MARK // p.per_ns
    g.seed = p.seed
    g.stop = p.ms * 10**6
    program = np.zeros(p.threads, PROGRAM)
    spans = np.zeros((p.threads, 4), np.uint64)
    for t in range(p.threads):
        program[t] = OPERATION[0]
        program[t].vma = t % p.vmas
        program[t].body = FAULT // p.per_ns - g.walk - g.checks
        program[t].hold = MPROTECT // p.per_ns
        program[t].think = p.think_ns
        program[t].share = np.int64(p.writer_share * 2**32)
        spans[t, 0] = t
        spans[t, 1] = t + 1
        spans[t, 2] = U(FOREVER)
    machine = lay_out(settings, program, spans)
    if not run(machine):
        raise RuntimeError
    counted = tally(machine)
    table = np.empty((1, len(counted)))
    table[0] = counted
    return table


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Rates and latencies of a run."""
    return charts.contended(table)
