"""The machine as flat arrays: CPUs, threads, semaphores, cache lines, VMAs.

A semaphore has a number: 0 is mmap_lock, 1 + v the rwsem of VMA v. A cache line has one too: what
all of an address space share comes first, then two lines a VMA.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numbers import U

NONE = U(0xFFFFFFFF)
"""No thread, no CPU."""
NEVER = U(0xFFFFFFFFFFFFFFFF)
"""When a thread goes on that something else has to wake."""

MMAP_LOCK = U(0)
"""Number of its semaphore, and of its cache line."""
MM_SEQ, TREE, RANGES = U(1), U(2), U(3)
"""Lines of mm_lock_seq, of the maple tree, and of the spinlock of a range lock."""
VMA_LINES = U(4)
"""First line of a VMA: of its struct; the next one is that of its lock."""

PERFORMANCE = np.dtype(
    [
        (name, "u8")
        for name in (
            # costs [ns]
            "local",  # atomic on a line that this CPU owns
            "remote",  # fetching a line that another CPU wrote
            "walk",  # entry of a fault, and the lookup of its VMA
            "checks",  # of the sequences, and what goes with taking a VMA's lock
            "copy",  # of a VMA, by a speculative fault
            "anon_vma",  # __anon_vma_prepare()
            "mark",  # vma_start_write() beside its atomics
            "wake",  # waking one task, for who wakes
            "start",  # of a task that was woken, until it runs
            "switch",  # to the next task of the run queue
            "slice",  # time a task runs before one that waits for the CPU gets on
            "handoff",  # wait after which a writer gets mmap_lock for certain
            # what the run is
            "policy",
            "cpus",
            "threads",
            "vmas",
            "leaves",  # of the tournament: a power of two
            "stop",  # no operation starts from then on [ns]
            "limit",  # events
            "seed",
            # how far it is
            "now",
            "events",
            "sequence",  # of the next event that is set, to tell ties apart
            "queued",  # tasks in the run queue
            "head",  # of the run queue
            "idle",  # CPUs without a task
            "mm_seq",
            "traced",
            # sums of time [ns], for Little's law
            "readers_waiting",
            "writers_waiting",
            "waiting_since",
            "reader_area",
            "writer_area",
        )
    ]
)

COUNTERS = (
    "faults",  # finished
    "writes",  # finished
    "vma",  # faults handled without mmap_lock
    "mmap",  # faults handled under mmap_lock
    "abort_early",
    "abort_trylock",
    "abort_late",
    "retry",  # the handler wanted mmap_lock
    "sleep_reader",
    "sleep_writer",
    "vma_sleep",  # of a writer, for readers of a VMA
    "handoff",
    "opt_lock",  # mmap_lock taken by spinning
    "steal",  # by a reader
    "marks",
    "remote",  # cache lines fetched
    "reader_wait",  # for mmap_lock [ns]
    "writer_wait",  # for mmap_lock [ns]
    "vma_wait",  # for readers of VMAs [ns]
    "fault_time",  # [ns]
    "write_time",  # [ns]
    "run_wait",  # for a CPU [ns]
    "think_time",  # [ns]
    "started",
    "last",  # when the last operation ended [ns]
    "reader_waits",
    "writer_waits",
    "held",  # mmap_lock by writers [ns]
)
COUNT = {name: U(i) for i, name in enumerate(COUNTERS)}

BUCKETS = 32 * 40
"""Of a histogram of latencies: 32 to an octave."""

PROGRAM = np.dtype(
    [
        ("kind", "u8"),
        ("vma", "u8"),  # that it touches, or the first of those that it marks
        ("marks", "u8"),
        ("body", "u8"),  # of a fault, of creating a thread [ns]
        ("hold", "u8"),  # of a writer's section [ns]
        ("tail", "u8"),  # a writer's work once it is a reader, 0 for no downgrade [ns]
        ("think", "u8"),  # time of its own before the next operation, in the mean [ns]
        ("fresh", "u8"),  # a writer's VMAs lose their anon_vma
        ("share", "u8"),  # chance of a writer where either may come, of 2^32
        ("spread", "u8"),  # VMAs that `vma` is drawn from, 1 for none
    ]
)
"""One operation of a program."""
FAULT, WRITE, EITHER, SPAWN = U(0), U(1), U(2), U(3)
"""Kinds of operation. `EITHER` draws one, each time anew: a fault or, with chance `share`, a
writer. `SPAWN` starts the thread whose number is `vma`."""


class Machine(NamedTuple):
    """All of a run. Arrays of tasks have one entry a thread, of semaphores one a semaphore."""

    one: np.ndarray
    """`PERFORMANCE`: costs, and how far the run is."""
    count: np.ndarray
    """`COUNTERS`."""
    # events
    tournament: np.ndarray
    # tasks
    pc: np.ndarray
    cpu: np.ndarray
    began: np.ndarray
    """Of the operation."""
    since: np.ndarray
    """When it began to wait, or got the CPU."""
    ran: np.ndarray
    """When it got the CPU."""
    op: np.ndarray
    """Row of the program that it is in."""
    first: np.ndarray
    end: np.ndarray
    left: np.ndarray
    """Rounds of the program that are left."""
    vma: np.ndarray
    """VMA of the fault; the next that a writer marks."""
    marked: np.ndarray
    seq: np.ndarray
    """That a speculative fault began with."""
    drawn: np.ndarray
    """Random numbers drawn."""
    writing: np.ndarray
    """Whether the operation is a writer's."""
    ended: np.ndarray
    """When its program ended."""
    waited: np.ndarray
    """When it began to wait for a semaphore, or had it."""
    # tasks as waiters of a semaphore
    follower: np.ndarray
    waits_to_write: np.ndarray
    deadline: np.ndarray
    handoff_set: np.ndarray
    spins_on: np.ndarray
    threshold: np.ndarray
    # semaphores
    readers: np.ndarray
    writer: np.ndarray
    owner: np.ndarray
    """Writer that the owner field names; `NONE` while it is free or a reader's."""
    reader_owned: np.ndarray
    nonspinnable: np.ndarray
    waiter_head: np.ndarray
    waiter_tail: np.ndarray
    handoff: np.ndarray
    osq_head: np.ndarray
    osq_tail: np.ndarray
    # cache lines
    line_owner: np.ndarray
    line_shared: np.ndarray
    line_stamp: np.ndarray
    line_free: np.ndarray
    copy: np.ndarray
    """`copy[cpu, line]`: stamp of the line when this CPU read it."""
    # VMAs
    vm_lock_seq: np.ndarray
    anon_vma: np.ndarray
    # CPUs
    queue: np.ndarray
    idle: np.ndarray
    # what they do
    program: np.ndarray
    # what came of it
    fault_latency: np.ndarray
    write_latency: np.ndarray
    trace: np.ndarray
    """`trace[n]`: time, thread and pc of the n-th event, as long as there is room."""


def machine(
    costs: dict[str, int],
    policy: int,
    cpus: int,
    vmas: int,
    program: np.ndarray,
    spans: np.ndarray,
    stop: int,
    seed: int,
    limit: int = 2**62,
    traced: int = 0,
) -> Machine:
    """Lay out a machine at time 0.

    Parameters
    ----------
    costs : dict
        The costs of `PERFORMANCE` by name [ns].
    policy : int
        `lorelab.vmalock.params.Variant`.
    cpus, vmas : int
    program : ndarray of `PROGRAM`
    spans : ndarray of shape (threads, 4)
        For each thread its first and last-but-one row of the program, how often it goes through
        them, and when it starts [ns]; 2**63 or more where another one starts it.
    stop : int
        No operation starts from then on [ns].
    seed : int
    limit : int
        Events after which the run stops.
    traced : int
        Events to keep in `trace`.
    """
    threads = len(spans)
    leaves = 1 << max(1, (threads - 1).bit_length())
    sems, lines = 1 + vmas, int(VMA_LINES) + 2 * vmas
    one = np.zeros(1, PERFORMANCE)
    for name, value in costs.items():
        one[name] = value
    given = {
        "policy": policy,
        "cpus": cpus,
        "threads": threads,
        "vmas": vmas,
        "leaves": leaves,
        "stop": stop,
        "limit": limit,
        "seed": seed,
        "idle": cpus,
        "traced": traced,
    }
    for name, value in given.items():
        one[name] = value

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.uint64)

    def none(size: int) -> np.ndarray:
        return np.full(size, NONE, np.uint64)

    return Machine(
        one=one,
        count=zeros(len(COUNTERS)),
        tournament=np.full(2 * leaves, NEVER, np.uint64),
        pc=zeros(threads),
        cpu=none(threads),
        began=zeros(threads),
        since=spans[:, 3].astype(np.uint64),
        ran=zeros(threads),
        op=spans[:, 0].astype(np.uint64),
        first=spans[:, 0].astype(np.uint64),
        end=spans[:, 1].astype(np.uint64),
        left=spans[:, 2].astype(np.uint64),
        vma=zeros(threads),
        marked=zeros(threads),
        seq=zeros(threads),
        drawn=zeros(threads),
        writing=zeros(threads),
        ended=zeros(threads),
        waited=zeros(threads),
        follower=none(threads),
        waits_to_write=zeros(threads),
        deadline=zeros(threads),
        handoff_set=zeros(threads),
        spins_on=none(threads),
        threshold=zeros(threads),
        readers=zeros(sems),
        writer=none(sems),
        owner=none(sems),
        reader_owned=zeros(sems),
        nonspinnable=zeros(sems),
        waiter_head=none(sems),
        waiter_tail=none(sems),
        handoff=zeros(sems),
        osq_head=none(sems),
        osq_tail=none(sems),
        line_owner=none(lines),
        line_shared=zeros(lines),
        line_stamp=np.ones(lines, np.uint64),
        line_free=zeros(lines),
        copy=np.zeros((cpus, lines), np.uint64),
        # vma_lock_alloc() sets UINT_MAX; mm_lock_seq starts at 0
        vm_lock_seq=np.full(vmas, 0xFFFFFFFF, np.uint64),
        anon_vma=np.ones(vmas, np.uint64),
        queue=zeros(threads),
        idle=np.arange(cpus, dtype=np.uint64)[::-1].copy(),
        program=program,
        fault_latency=zeros(BUCKETS),
        write_latency=zeros(BUCKETS),
        trace=zeros(max(traced, 1), 3),
    )
