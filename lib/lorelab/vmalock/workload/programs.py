"""Programs of operations, one a thread, and the machine that runs them.

A program is a list of operations, gone through a number of times; see
`lorelab.vmalock.model.state.PROGRAM` for what an operation has.
"""

from typing import NamedTuple

import numpy as np

from lorelab.errors import BadInput
from lorelab.vmalock.model.events import LONGEST
from lorelab.vmalock.model.state import EITHER, FAULT, PROGRAM, SPAWN, WRITE, Machine, machine
from lorelab.vmalock.params import Contention, Fork, Launch, Merge, Timed, Zerocopy
from lorelab.vmalock.workload.costs import body, costs, ns

FOREVER = 2**62
LATER = 2**63
"""Start of a thread that another one creates."""
OPERATION = PROGRAM.names


class Thread(NamedTuple):
    """What a thread does."""

    operations: list[tuple[int, ...]]
    """In the order of `OPERATION`."""
    rounds: int = FOREVER
    start: int = 0
    """[ns]; `LATER` where another thread creates it."""


def operation(kind: int, **fields: float) -> tuple[int, ...]:
    """One operation; fields that are not given are 0, but for `spread`, which is 1.

    Raises
    ------
    TypeError
        An operation has no such field.
    """
    if unknown := sorted(fields.keys() - set(OPERATION)):
        raise TypeError(f"an operation has no {unknown[0]}: it has {', '.join(OPERATION)}")
    values = {"kind": int(kind), "spread": 1, **fields}
    return tuple(int(values.get(name, 0)) for name in OPERATION)


def program_of(
    params: Timed, vmas: int, threads: list[Thread], stop: int = FOREVER, traced: int = 0
) -> Machine:
    """The machine that runs these threads (see `lorelab.vmalock.model.state.machine`).

    Raises
    ------
    BadInput
        A thread would go on for longer than the model can tell times apart.
    """
    for thread in threads:
        _check_length(thread, stop)
    rows = [row for thread in threads for row in thread.operations]
    ends = np.cumsum([len(thread.operations) for thread in threads])
    spans = np.array(
        [
            (end - len(thread.operations), end, thread.rounds, thread.start)
            for thread, end in zip(threads, ends, strict=True)
        ],
        np.uint64,
    )
    program = np.array(rows, PROGRAM)
    return machine(
        costs(params),
        params.variant,
        params.cpus,
        vmas,
        program,
        spans,
        stop,
        params.seed,
        traced=traced,
    )


def _check_length(thread: Thread, stop: int) -> None:
    """Refuse a thread whose own work and pauses alone reach `LONGEST`."""
    places = [OPERATION.index(name) for name in ("body", "hold", "tail", "think")]
    a_round = sum(row[place] for row in thread.operations for place in places)
    length = min(a_round * thread.rounds, stop)
    if thread.rounds != FOREVER and length >= LONGEST:
        raise BadInput(
            f"a thread goes on for {length / 1e9:.0f} s of the model's time, and a run has to end "
            f"within {LONGEST / 1e9:.0f}: ask for less of forks, vmas or pages, or of think_ns"
        )


def contention(params: Contention, traced: int = 0) -> Machine:
    """Threads that fault in their VMA and, now and then, change it with mprotect()."""
    threads = [Thread([_either(params, t % params.vmas)]) for t in range(params.threads)]
    return program_of(params, params.vmas, threads, params.ms * 10**6, traced)


def _either(params: Contention | Merge, vma: int) -> tuple[int, ...]:
    return operation(
        EITHER,
        vma=vma,
        marks=1,
        body=body(params),
        hold=ns("mprotect", params),
        think=params.think_ns,
        share=params.writer_share * 2**32,
    )


def merge(params: Merge) -> Machine:
    """The same, where each thread has a VMA of its own, or all of them have one."""
    threads = [Thread([_either(params, 0 if params.merged else t)]) for t in range(params.threads)]
    return program_of(params, 1 if params.merged else params.threads, threads, params.ms * 10**6)


def launch(params: Launch) -> Machine:
    """One thread creates the others, which map areas and touch them first.

    The creator maps a thread's stack and protects its guard page, as pthread_create() does; the
    thread maps the rest and faults, area after area, until `pages` pages are there.
    """
    creator, threads = [], []
    for t in range(params.threads):
        first = t * params.areas
        creator += [
            operation(WRITE, vma=first, marks=1, hold=ns("mmap", params), fresh=1),
            operation(WRITE, vma=first, marks=1, hold=ns("mprotect", params)),
            operation(SPAWN, vma=t + 1, body=ns("clone", params)),
        ]
        rows = []
        for area in range(params.areas):
            if area:
                rows.append(
                    operation(WRITE, vma=first + area, marks=1, hold=ns("mmap", params), fresh=1)
                )
            pages = params.pages // params.areas + (area < params.pages % params.areas)
            fault = operation(FAULT, vma=first + area, body=body(params), think=params.think_ns)
            rows += [fault] * pages
        threads.append(Thread(rows, 1, LATER))
    vmas = params.threads * params.areas
    return program_of(params, vmas, [Thread(creator, 1), *threads])


def zerocopy(params: Zerocopy) -> Machine:
    """Threads that receive, each into a VMA of its own or all into one, and one madvise()."""
    receivers = params.threads - 1
    threads = [
        Thread(
            [
                operation(
                    FAULT,
                    vma=0 if params.same else 1 + t,
                    body=params.receive_ns,
                    think=params.think_ns,
                )
            ]
        )
        for t in range(receivers)
    ]
    caller = operation(
        WRITE, vma=0, marks=1, hold=params.madvise_ns, think=params.interval_us * 1000
    )
    vmas = 1 if params.same else params.threads
    return program_of(params, vmas, [*threads, Thread([caller])], params.ms * 10**6)


def fork(params: Fork) -> Machine:
    """One thread forks, which marks all VMAs and copies them; others fault, spread over them."""
    forker = operation(
        WRITE, marks=params.vmas, hold=ns("duplicate", params) * params.vmas, think=params.think_ns
    )
    fault = operation(FAULT, body=body(params), think=params.think_ns, spread=params.vmas)
    # they go on for as long as the forks take where nobody waits
    stop = params.forks * (ns("duplicate", params) * params.vmas + params.think_ns)
    threads = [Thread([forker], params.forks), *([Thread([fault])] * params.threads)]
    return program_of(params, params.vmas, threads, stop if params.threads else FOREVER)
