"""The machines that the swap experiments boot: one with zram, one with a RAM disk under icount.

zram, with lzo, is the device of the kernel's own tool; 64 KiB folios are `always`, all other sizes
`never`, as the tool's header says, and there is ample memory, so that nothing but the tool swaps.

The RAM disk is the device of the thread. There lib/kernel/swap/guest/usemem.c does the touching,
memory cgroups and memory.reclaim the reclaiming. Costs are counted, not timed: kprobes count the
calls of the functions that clear an entry, flush, allocate slots and write; where instructions are
counted no probe is there. All of it runs under icount, which emulates the CPUs in turn. With a
thread of the host for each, an interrupt from CPU to CPU waits until the host has run the other
one: on a busy host 30 ms each.
"""

from typing import Any, NamedTuple

from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Request, switched
from lorelab.swap.params import AllocatorTest
from lorelab.swap.workload.allocator_test import rand_calls

DESIGN = "swap"
MOST_CPUS = 8
SECONDS_A_TEST = 600.0
"""Some 20 s under emulation on an idle machine, 140 s on a host with a load of 14."""
SECONDS_A_PROBED_TEST = 1200.0
"""Longer, for a probe replays each search of a cluster: 200 s on a host with a load of 10."""
GUEST_MIB = 512
"""Memory of the guest beside what is touched and the RAM disk, which holds what is swapped."""
SECONDS_A_ROUND = 120.0
"""Some 2 s under emulation on an idle machine, 15 s on a host with a load of 16."""


class Run(NamedTuple):
    """A run of the kernel's tool, on a fresh device."""

    params: AllocatorTest
    switches: dict[str, str]
    """Those that are turned, by name."""


class Runs(NamedTuple):
    """Runs of the kernel's tool in one boot, all of as many CPUs."""

    runs: list[Run]
    zswap_once: bool = False
    """Large swap-in goes off before them by way of zswap, on a kernel without a switch."""
    turns: int = 1
    """How often all of them are done."""
    scheduled: bool = False
    """The tool's CPU is up to the kernel's scheduler."""
    probes: tuple[str, ...] = ()


def zram(requested: Runs) -> Request:
    """A boot that runs the tool; the rows say which `run` of which `turn` they are of."""
    machine = Machine(cpus=requested.runs[0].params.cpus, memory_mib=2048)
    rows = (
        run.params.iterations + requested.scheduled + ("swap/count" in run.switches)
        for run in requested.runs
    )
    seconds = SECONDS_A_PROBED_TEST if requested.probes else SECONDS_A_TEST
    job = Job(
        design=DESIGN,
        workload="allocator_test",
        params={
            "zswap_once": requested.zswap_once,
            "turns": requested.turns,
            "runs": [_program(run, requested.scheduled) for run in requested.runs],
        },
        seconds=seconds * len(requested.runs) * requested.turns,
        rows=requested.turns * sum(rows),
        probes=requested.probes,
    )
    return Request(machine, job, patched=switched(run.switches for run in requested.runs))


def _program(run: Run, scheduled: bool) -> dict[str, Any]:
    taken = {"options", "seed", "device_mib", "rotational", "move_every"}
    return (
        {"switches": run.switches}
        | run.params.model_dump(include=taken)
        | {"calls": run.params.iterations * rand_calls(run.params.options)}
        | ({"move_every": None} if scheduled else {})
    )


def rows_of(measured: Measured, run: int, turn: int = 0) -> list[dict[str, Any]]:
    """What one run of a turn gave, both counted from 0."""
    return [row for row in measured.rows if row["run"] == run and row["turn"] == turn]


class Reclaim(NamedTuple):
    """A run of the guest's usemem."""

    switches: dict[str, str]
    processes: int
    mib: int
    """Memory that each process touches."""
    order: int
    limit_mib: int | None
    """Of the cgroup."""
    steps: list[str]
    """As lib/kernel/swap/guest/usemem.c takes them."""


class Rounds(NamedTuple):
    """Runs of usemem that take turns in one boot."""

    runs: list[Reclaim]
    swap_mib: int
    rounds: int
    cpus: int = 1
    warm_up: int = 0
    """Rounds before those."""
    instructions: bool = False
    """Instructions are counted, not calls."""
    patched: bool = False
    """The kernel with switches, even if none is turned."""


def ram_disk(requested: Rounds) -> Request:
    """A boot that does all runs in turns."""
    rounds = requested.warm_up + requested.rounds
    largest = max(run.limit_mib or run.mib for run in requested.runs)
    machine = Machine(
        cpus=requested.cpus + 1,
        memory_mib=GUEST_MIB + largest + requested.swap_mib,
        icount=True,
        append=("brd.rd_nr=1", f"brd.rd_size={requested.swap_mib * 1024}"),
    )
    job = Job(
        design=DESIGN,
        workload="swapout",
        params={
            "rounds": rounds,
            "instructions": requested.instructions,
            "runs": [run._asdict() for run in requested.runs],
        },
        seconds=SECONDS_A_ROUND * rounds * len(requested.runs),
        rows=rounds * len(requested.runs),
    )
    patched = requested.patched or switched(run.switches for run in requested.runs)
    return Request(machine, job, patched)


def rounds_of(measured: Measured, run: int) -> list[Any]:
    """What a run gave in each round: counters by name, or what the CPUs' instructions were."""
    return [
        row["ticks" if "ticks" in row else "counters"] for row in measured.rows if row["run"] == run
    ]
