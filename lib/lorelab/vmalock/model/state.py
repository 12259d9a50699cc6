"""The machine as flat arrays: CPUs, threads, semaphores, cache lines, VMAs.

A semaphore has a number: 0 is mmap_lock, 1 + v the rwsem of VMA v. A cache line has one too: what
all of an address space share comes first, then two lines a VMA.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import U, njit
from lorelab.vmalock.params import TRAITS, Traits, Variant

NONE = U(0xFFFFFFFF)
"""No thread, no CPU."""
NEVER = U(0xFFFFFFFFFFFFFFFF)
"""When a thread goes on that something else has to wake."""
WAITS = U(0x7FFFFFFFFFFFFFFF)
"""Its key in the tournament, which comes after every other."""

MMAP_LOCK = U(0)
"""Number of its semaphore, and of its cache line."""
MM_SEQ, TREE, RANGES = U(1), U(2), U(3)
"""Lines of mm_lock_seq, of the maple tree, and of the spinlock of a range lock."""
VMA_LINES = U(4)
"""First line of a VMA: of its struct; the next one is that of its lock."""

GLOBALS = np.dtype(
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
            *Traits._fields,  # 1 for what the variant can do
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


def _words(*names: str) -> np.dtype:
    return np.dtype([(name, "u8") for name in names])


TASK = _words(
    "pc",
    "cpu",  # that it has, or NONE
    "since",  # when it became runnable; NEVER while it sleeps
    "ran",  # when it got the CPU
    # its program
    "op",  # row of the program that it is in
    "first",
    "end",
    "left",  # rounds that are left
    "ended",  # when it was through
    "drawn",  # random numbers
    # its operation
    "began",
    "thinks",  # time of its own when it is over
    "writing",
    "vma",  # that a fault is in, or the first that a writer marks
    "marked",  # VMAs
    "seq",  # that a speculative fault began with; when a writer began to wait for readers
    "waited",  # when it began to wait for a semaphore, or had it
    # as a waiter of a semaphore
    "follower",
    "waits_to_write",
    "deadline",
    "handoff_set",
    "spins_on",
    "threshold",
)
"""A thread. Times are in ns."""

SEM = _words(
    "readers",
    "writer",
    "owner",  # writer that the owner field names; NONE while it is free or a reader's
    "reader_owned",
    "nonspinnable",
    "handoff",
    "waiter_head",
    "waiter_tail",
    "osq_head",
    "osq_tail",
)
"""A semaphore."""

LINE = _words(
    "owner",  # CPU that wrote it last
    "shared",  # whether others have read it since
    "stamp",  # times it was written
    "free",  # when it has come to where it goes [ns]
)
"""A cache line."""

VMA = _words("vm_lock_seq", "anon_vma")

DUE = _words(
    "key",  # time, and what tells ties apart
    "thread",
)
"""A node of the tournament (see `lorelab.vmalock.model.events`)."""


class Machine(NamedTuple):
    """All of a run."""

    globals: np.ndarray
    """`GLOBALS`: costs, and how far the run is."""
    count: np.ndarray
    """`COUNTERS`."""
    tournament: np.ndarray
    """`DUE`: node 1 is the root, nodes 2n and 2n + 1 are below n, thread t is leaf `leaves` + t."""
    task: np.ndarray
    """`TASK` of each thread."""
    sem: np.ndarray
    """`SEM` of mmap_lock, then of each VMA."""
    line: np.ndarray
    """`LINE`, in the order of the numbers above."""
    copy: np.ndarray
    """`copy[cpu, line]`: stamp of the line when this CPU read it."""
    vma: np.ndarray
    """`VMA`."""
    queue: np.ndarray
    """Threads that wait for a CPU, in a circle."""
    idle: np.ndarray
    """CPUs without a task, a stack."""
    program: np.ndarray
    """`PROGRAM`: what the threads do."""
    fault_latency: np.ndarray
    write_latency: np.ndarray
    trace: np.ndarray
    """`trace[n]`: time, thread and pc of the n-th event, as long as there is room."""


def machine(
    costs: dict[str, int],
    variant: Variant,
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
        The costs of `GLOBALS` by name [ns].
    variant : Variant
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
    settings = np.zeros(1, GLOBALS)
    values = {
        **costs,
        **TRAITS[variant]._asdict(),
        "cpus": cpus,
        "vmas": vmas,
        "stop": stop,
        "limit": limit,
        "seed": seed,
        "traced": traced,
    }
    for name, value in values.items():
        settings[name] = value
    return lay_out(settings, program, spans)


@njit
def lay_out(settings, program, spans):
    """Lay out the machine of a `GLOBALS` that has costs, traits, and what the run is.

    Parameters
    ----------
    settings : (1,) GLOBALS
        Receives what follows from the others.
    program, spans
        As for `machine`.
    """
    g, threads = settings[0], len(spans)
    cpus, vmas = np.int64(g.cpus), np.int64(g.vmas)
    leaves = 2
    while leaves < threads:
        leaves *= 2
    g.threads, g.leaves, g.idle = threads, leaves, cpus
    sems, lines = 1 + vmas, np.int64(VMA_LINES) + 2 * vmas
    task = np.zeros(threads, TASK)
    for t in range(threads):
        task[t].cpu = NONE
        task[t].follower = NONE
        task[t].spins_on = NONE
        task[t].first = spans[t, 0]
        task[t].end = spans[t, 1]
        task[t].left = spans[t, 2]
        task[t].since = spans[t, 3]
        task[t].op = spans[t, 0]
    sem = np.zeros(sems, SEM)
    for n in range(sems):
        sem[n].writer = NONE
        sem[n].owner = NONE
        sem[n].waiter_head = NONE
        sem[n].waiter_tail = NONE
        sem[n].osq_head = NONE
        sem[n].osq_tail = NONE
    tournament = np.zeros(2 * leaves, DUE)
    for n in range(2 * leaves):
        tournament[n].key = WAITS
        tournament[n].thread = max(n - leaves, 0)
    line = np.zeros(lines, LINE)
    for n in range(lines):
        line[n].owner = NONE
        line[n].stamp = 1
    vma = np.zeros(vmas, VMA)
    for n in range(vmas):
        # vma_lock_alloc() sets UINT_MAX; mm_lock_seq starts at 0
        vma[n].vm_lock_seq = 0xFFFFFFFF
        vma[n].anon_vma = 1
    idle = np.zeros(cpus, np.uint64)
    for n in range(cpus):
        idle[n] = cpus - 1 - n
    return Machine(
        settings,
        np.zeros(len(COUNTERS), np.uint64),
        tournament,
        task,
        sem,
        line,
        np.zeros((cpus, lines), np.uint64),
        vma,
        np.zeros(threads, np.uint64),
        idle,
        program,
        np.zeros(BUCKETS, np.uint64),
        np.zeros(BUCKETS, np.uint64),
        np.zeros((max(np.int64(g.traced), 1), 3), np.uint64),
    )
