"""`fairzone/nodes` on a kernel: two nodes with an LRU each stand in for two zones of before 4.8.

A disk is read once from the start, to fill memory, and then further; no page is read twice.
"""

from typing import Any

from lorelab.counters import table
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Nodes
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot

NAME = "fairzone/nodes"


def measure(wanted: list[Nodes], lab: Lab) -> list[Record]:
    """Read the disk `repeats` times; like machines share a boot.

    Returns
    -------
    list of Record
        Counters of `boot.counted()`; `read_pages_of_nodeN` are the pages that node N gave once
        memory was full.

    Raises
    ------
    RunFailed
        The guest did not come to the end.
    """

    def kind(params: Nodes) -> tuple[Any, ...]:
        machine = (params.cpus, params.mib, params.dma32_mib, params.disk_mb_s)
        return (*machine, params.mode == "unpatched")

    return by_boot(wanted, kind, lambda runs: _measure(runs, lab))


def _measure(wanted: list[Nodes], lab: Lab) -> list[Record]:
    runs = [boot.run(params, plan(params)) for params in wanted for _ in range(params.repeats)]
    machine = boot.with_nodes(wanted[0], wanted[0].disk_mb_s)
    measured = boot.measure(machine, runs, lab, patched=wanted[0].mode != "unpatched")
    found, first = [], 0
    for params in wanted:
        rows = [boot.phases(measured, first + n) for n in range(params.repeats)]
        counters = table(NAME, params.mode, "kernel", boot.counted(rows))
        found.append(measured.record(NAME, params, counters, first + 1))
        first += params.repeats
    return found


def plan(params: Nodes) -> list[dict[str, Any]]:
    """Phases of one run, for the guest's `stream.py`."""
    memory = params.mib * boot.PAGES_A_MIB
    return [
        {"name": "fill", "reads": [0, memory]},
        {"name": "read", "reads": [memory, params.turnovers * memory]},
    ]
