"""`fairzone/nodes` on a kernel: two nodes with an LRU each stand in for two zones of before 4.8.

A disk is read once from the start, to fill memory, and then further; no page is read twice. Or it
is written, and read back from the start.
"""

from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Nodes
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import machine_of

NAME = "fairzone/nodes"


def _machine(params: Nodes) -> tuple[Any, ...]:
    return *machine_of(params), params.mode == "unpatched"


def _request(batch: list[Nodes]) -> Request:
    runs = [boot.run(params, plan(params)) for params in batch for _ in range(params.repeats)]
    machine = boot.with_nodes(batch[0])
    return boot.request(machine, runs, patched=batch[0].mode != "unpatched", workload="nodes")


def _counters(params: Nodes, measured: Measured, run: int) -> pd.DataFrame:
    """As `boot.counted()` has them.

    `read_pages_of_nodeN` are the pages that node N gave once memory was full, or while the written
    pages were read; `read_ms` is how long that took, and records before December 2026 do not say.
    """
    rows = [boot.phases(measured, run + n) for n in range(params.repeats)]
    return table(NAME, params.mode, "kernel", boot.counted(rows))


def plan(params: Nodes) -> list[dict[str, Any]]:
    """Phases of one run, for the guest's `nodes.py`."""
    memory = params.mib * PAGES_A_MIB
    data = [0, params.turnovers * memory]
    if params.workload == "write-read":
        return [{"name": "write", "writes": data}, {"name": "read", "reads": data}]
    return [
        {"name": "fill", "reads": [0, memory]},
        {"name": "read", "reads": [memory, params.turnovers * memory]},
    ]


measure = Measurement(
    NAME, _request, _counters, machine=_machine, repeats=lambda params: params.repeats
)
