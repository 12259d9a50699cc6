"""Memory ordering: the protocol's accesses as litmus tests, and machines that reorder them.

A machine performs each thread's accesses in any order that its rules leave open (`ordered`). A
store that is not performed yet while later accesses are is one in a store buffer: `TSO` lets loads
pass stores (x86), `PSO` also lets stores pass stores, `WEAK` lets everything pass but what a
barrier, an acquire, a release, a branch or the same address keeps in place, as the kernel's memory
model does where no address or data depends on a load. Memory is one for all: a store is performed
for everyone at once. A load of a variable that its own thread has just stored waits for the store,
where a real buffer would forward it; no test here has one.

The tests are in `litmus_tests`, and as files for herd7, which `lkmm()` writes, in
lib/kernel/vmalock/litmus.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from lorelab.checker import Model, explore, invariant, successors
from lorelab.numerics import ONE, ZERO, U


class Machine(IntEnum):
    """What may pass what."""

    SC = 0
    """Nothing: sequential consistency."""
    TSO = 1
    """Loads pass earlier stores: a store buffer, first in, first out."""
    PSO = 2
    """Stores pass earlier stores, too: a store buffer for each address."""
    WEAK = 3
    """Loads pass and are passed, too."""


class Kind(IntEnum):
    """What an access does."""

    LOAD = 0
    STORE = 1
    LOCK = 2
    """Waits until the lock is free and takes it, as a semaphore is taken."""
    UNLOCK = 3
    WMB = 4
    """smp_wmb(): no access, but earlier stores come before later ones."""
    MB = 5
    """smp_mb(): no access, but all that is earlier comes before all that is later."""


class Access(NamedTuple):
    """One line of a litmus test."""

    kind: Kind
    where: str = ""
    value: int = 0
    """What is stored; of a load the number of its register."""
    ordered: bool = False
    """A load that acquires, a store that releases."""
    behind: int | None = None
    """Of a store behind a branch: what the last load must have found, else it is not performed."""


def load(where: str, register: int, acquire: bool = False) -> Access:
    return Access(Kind.LOAD, where, register, acquire)


def store(where: str, value: int, release: bool = False, behind: int | None = None) -> Access:
    return Access(Kind.STORE, where, value, release, behind)


class Test(NamedTuple):
    """A litmus test; all variables begin as `first` says, else as 0."""

    what: str
    threads: tuple[tuple[Access, ...], ...]
    exists: dict[tuple[int, int], int]
    """The outcome of its `exists` clause: value by thread and register."""
    first: dict[str, int] = {}  # noqa: RUF012
    __test__ = False


WMB, MB = Access(Kind.WMB), Access(Kind.MB)


def variables(test: Test) -> list[str]:
    """The variables of a test, in the order of their first use."""
    return list(dict.fromkeys(a.where for thread in test.threads for a in thread if a.where))


def ordered(thread: tuple[Access, ...], i: int, j: int, machine: Machine) -> bool:
    """Whether access i of a thread is performed before its later access j on this machine."""
    first, second = thread[i], thread[j]
    stores = (Kind.STORE, Kind.UNLOCK)
    if machine == Machine.SC or first.where == second.where:
        return True
    if first.kind == Kind.LOCK or (first.kind == Kind.LOAD and first.ordered):
        return True
    if second.kind == Kind.UNLOCK or (second.kind == Kind.STORE and second.ordered):
        return True
    between = {access.kind for access in thread[i:j]}
    if Kind.MB in between:
        return True
    if first.kind in stores and second.kind in stores and Kind.WMB in between:
        return True
    if first.kind == Kind.LOAD and second.behind is not None:
        return True
    if machine == Machine.WEAK:
        return False
    # Of store buffers a lock is taken by an atomic operation, which empties them.
    if second.kind == Kind.LOCK or first.kind == Kind.LOAD:
        return True
    return machine == Machine.TSO and second.kind in stores


# A state: two bits a variable in word 0, four registers of two bits a thread in word 1 and which
# of its eight accesses each has performed in word 2. The setting has a block of 8 for each thread:
# an access is kind | where << 4 | value << 8 | must << 16 | branch << 24, must the accesses before
# it, branch 0 or 16 | register << 2 | its value; then, for the outcome, mask and value of word 1.
THREADS, ACCESSES = U(2), U(8)
NO_ACCESS = U(0xF)
STORE, LOCK_KIND = U(Kind.STORE), U(Kind.LOCK)
TWO_BITS, BYTE = U(3), U(0xFF)


@successors
def _perform(state, following, steps, setting):
    n = ZERO
    for thread in range(THREADS):
        done = (state[2] >> (ACCESSES * thread)) & BYTE
        for place in range(ACCESSES):
            access = setting[thread * ACCESSES + place]
            kind = access & NO_ACCESS
            must = (access >> U(16)) & BYTE
            if kind == NO_ACCESS or (done >> place) & ONE or (must & ~done):
                continue
            at = U(2) * ((access >> U(4)) & NO_ACCESS)
            value = (access >> U(8)) & BYTE
            memory = (state[0] >> at) & TWO_BITS
            if kind == LOCK_KIND and memory:
                continue
            branch = access >> U(24)
            register = U(2) * (U(4) * thread + ((branch >> U(2)) & TWO_BITS))
            if branch and (state[1] >> register) & TWO_BITS != branch & TWO_BITS:
                continue
            after = following[n]
            after[0], after[1], after[2] = state[0], state[1], state[2]
            if kind == ZERO:
                after[1] |= memory << (U(2) * (U(4) * thread + value))
            else:
                stored = value if kind == STORE else (ONE if kind == LOCK_KIND else ZERO)
                after[0] = (after[0] & ~(TWO_BITS << at)) | (stored << at)
            after[2] |= ONE << (ACCESSES * thread + place)
            steps[n] = thread * ACCESSES + place
            n += ONE
    return n


@invariant
def _outcome(state, followed, setting):
    at = THREADS * ACCESSES
    return U(not followed and (state[1] & setting[at]) == setting[at + ONE])


MODEL = Model(_perform, _outcome, words=3, most_following=16)


def setting(test: Test, machine: Machine) -> np.ndarray:
    """What the search is given; (18,) uint64."""
    values = np.full(18, NO_ACCESS, U)
    names = variables(test)
    for number, thread in enumerate(test.threads):
        places = [
            place for place, access in enumerate(thread) if access.kind not in (Kind.WMB, Kind.MB)
        ]
        for n, place in enumerate(places):
            before = enumerate(places[:n])
            must = sum(1 << m for m, p in before if ordered(thread, p, place, machine))
            kind, where, value, _, behind = thread[place]
            access = kind | names.index(where) << 4 | value << 8 | must << 16
            if behind is not None:
                access |= (16 | _last_register(thread[:place]) << 2 | behind) << 24
            values[number * 8 + n] = U(access)
    values[16] = sum(3 << 2 * (4 * thread + register) for thread, register in test.exists)
    values[17] = sum(v << 2 * (4 * thread + r) for (thread, r), v in test.exists.items())
    return values


def _last_register(before: tuple[Access, ...]) -> int:
    return [access.value for access in before if access.kind == Kind.LOAD][-1]


def allowed(test: Test, machine: Machine) -> tuple[bool, int]:
    """Whether the outcome can be on this machine, and how many states were gone through."""
    first = np.zeros(3, U)
    for n, name in enumerate(variables(test)):
        first[0] |= U(test.first.get(name, 0) << 2 * n)
    explored = explore(MODEL, first, setting(test, machine), memory=1 << 24)
    return bool(explored.broken), len(explored.states)


def spelled(thread: tuple[Access, ...], place: int) -> str:
    """One access as the kernel spells it."""
    kind, where, value, keeps, behind = thread[place]
    if behind is not None:
        then = spelled((thread[place]._replace(behind=None),), 0)
        return f"if (r{_last_register(thread[:place])} == {behind})\n\t\t{then}"
    match kind:
        case Kind.LOAD:
            call = f"smp_load_acquire({where})" if keeps else f"READ_ONCE(*{where})"
            return f"r{value} = {call};"
        case Kind.STORE:
            call = f"smp_store_release({where}" if keeps else f"WRITE_ONCE(*{where}"
            return f"{call}, {value});"
        case Kind.LOCK:
            return f"spin_lock({where});"
        case Kind.UNLOCK:
            return f"spin_unlock({where});"
    return {Kind.WMB: "smp_wmb();", Kind.MB: "smp_mb();"}[kind]


def lkmm(name: str, test: Test) -> str:
    """The test as a file for herd7 and the kernel's memory model (tools/memory-model)."""
    locks = [a.where for thread in test.threads for a in thread if a.kind == Kind.LOCK]

    used = variables(test)
    begins = " ".join(f"{where}={value};" for where, value in test.first.items() if where in used)
    comment = [f" * {test.what[0].upper()}{test.what[1:]}."]
    if test.what.startswith("the same"):
        comment.append(f" * As in {name.partition('-')[0]}.")
    text = [f"C {name}", "", "(*", *comment, " *)", ""]
    text += [f"{{ {begins} }}" if begins else "{ }"]
    for number, thread in enumerate(test.threads):
        own = dict.fromkeys(access.where for access in thread if access.where)
        takes = ", ".join(f"{'spinlock_t' if w in locks else 'int'} *{w}" for w in own)
        registers = [f"\tint r{a.value};" for a in thread if a.kind == Kind.LOAD]
        body = [f"\t{spelled(thread, place)}" for place in range(len(thread))]
        space = [""] if registers else []
        text += ["", f"P{number}({takes})", "{", *registers, *space, *body, "}"]
    clause = " /\\ ".join(f"{thread}:r{r}={v}" for (thread, r), v in test.exists.items())
    return "\n".join([*text, "", f"exists ({clause})", ""])
