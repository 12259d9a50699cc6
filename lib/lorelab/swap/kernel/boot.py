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
from lorelab.lab.run import Lab, Measured, measure
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


def zram(wanted: Runs, lab: Lab) -> Measured:
    """Boot once, and run the tool; the rows say which `run` of which `turn` they are of."""
    machine = Machine(cpus=wanted.runs[0].params.cpus, memory_mib=2048)
    rows = (
        run.params.iterations + wanted.scheduled + ("swap/count" in run.switches)
        for run in wanted.runs
    )
    seconds = SECONDS_A_PROBED_TEST if wanted.probes else SECONDS_A_TEST
    job = Job(
        design=DESIGN,
        workload="allocator_test",
        params={
            "zswap_once": wanted.zswap_once,
            "turns": wanted.turns,
            "runs": [_told(run, wanted.scheduled) for run in wanted.runs],
        },
        seconds=seconds * len(wanted.runs) * wanted.turns,
        rows=wanted.turns * sum(rows),
        probes=wanted.probes,
    )
    return measure(machine, job, lab, patched=any(run.switches for run in wanted.runs))


def _told(run: Run, scheduled: bool) -> dict[str, Any]:
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


class Told(NamedTuple):
    """What one run of a boot gave."""

    place: int
    """Of the run in its boot, from 1."""
    rounds: list[Any]
    """Counters by name of each round, or what the CPUs' instructions were at each step."""
    measured: Measured


def ram_disk(wanted: Rounds, lab: Lab) -> list[Told]:
    """Boot once, and do all runs in turns."""
    rounds = wanted.warm_up + wanted.rounds
    held = max(run.limit_mib or run.mib for run in wanted.runs)
    machine = Machine(
        cpus=wanted.cpus + 1,
        memory_mib=GUEST_MIB + held + wanted.swap_mib,
        icount=True,
        append=("brd.rd_nr=1", f"brd.rd_size={wanted.swap_mib * 1024}"),
    )
    job = Job(
        design=DESIGN,
        workload="swapout",
        params={
            "rounds": rounds,
            "instructions": wanted.instructions,
            "runs": [run._asdict() for run in wanted.runs],
        },
        seconds=SECONDS_A_ROUND * rounds * len(wanted.runs),
        rows=rounds * len(wanted.runs),
    )
    patched = wanted.patched or any(run.switches for run in wanted.runs)
    measured = measure(machine, job, lab, patched=patched)
    said = "ticks" if wanted.instructions else "counters"
    return [
        Told(
            number + 1,
            [
                row[said]
                for row in measured.rows
                if row["run"] == number and row["round"] >= wanted.warm_up
            ],
            measured,
        )
        for number in range(len(wanted.runs))
    ]
