"""How the programs of readers and writers are written down, and what a search is given of them.

A program is a list of labels, which are strings, of steps and of jumps. Each step has a name, by
which it can be left out, and may have others that it shares: who does not take a lock does not give
it back either.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import U
from lorelab.vmalock.model.protocol.ops import Op
from lorelab.vmalock.model.protocol.state import CODE, CODE_LENGTH, READER, SECTION


class Do(NamedTuple):
    """One step of a program."""

    op: Op
    name: str
    """Of the step, as it is left out by."""
    otherwise: str = ""
    """Label where the program goes on if the step's condition fails."""
    elsewhere: str = ""
    """The same, of a step that fails in two ways."""
    arg: int = 0
    second: bool = False
    """It works on the second VMA of the program."""
    by: tuple[str, ...] = ()
    """Other names that leave it out, each with all steps that have it."""
    work: bool = False
    """It is not of the lock: what a program is there for, or a wake-up, which nobody needs here,
    where who waits looks by itself. It can be left out, but that says nothing of the protocol."""


class Goto(NamedTuple):
    """Where the program goes on, without a step."""

    label: str


Program = list[str | Do | Goto]
"""Labels, steps and jumps. The labels `section` and `end of section` are around what is done under
a VMA's lock, `writing` and `written` around what is done under mmap_lock held for writing."""


def called(step: Do) -> tuple[str, ...]:
    """The names that leave out a step."""
    return (step.name, *step.by)


def names(program: Program, work: bool = True) -> list[str]:
    """Every name that leaves something out, with or without those of `work`, in order."""
    steps = [step for step in steps_of(program) if work or not step.work]
    return list(dict.fromkeys(name for step in steps for name in called(step)))


def leave_out(program: Program, without: frozenset[str]) -> Program:
    """The program without the steps of these names."""
    return [
        line for line in program if not isinstance(line, Do) or without.isdisjoint(called(line))
    ]


def steps_of(program: Program) -> list[Do]:
    """The steps alone, at the places that the search speaks of."""
    return [step for step in program if isinstance(step, Do)]


def load(setting: np.ndarray, thread: int, program: Program, page: int) -> None:
    """Put a program into what the search is told (see `state.SETTING`).

    Parameters
    ----------
    setting : (SETTING,) uint64 array
    thread : int
    program : Program
    page : int
        The page that a reader's fault is at.
    """
    program = [*program, Do(Op.END, "end")]
    lines = {line: n for n, line in enumerate(program) if isinstance(line, str)}
    # The place of the first step at or after a line.
    place = {n: p for p, n in enumerate(n for n, s in enumerate(program) if isinstance(s, Do))}

    def to(line: int) -> int:
        while line not in place:
            at = program[line]
            line = lines[at.label] if isinstance(at, Goto) else line + 1
        return place[line]

    def label(name: str) -> int:
        return to(lines[name]) if name else 0

    if len(place) > CODE_LENGTH:
        raise ValueError(f"a program has {len(place)} steps, {CODE_LENGTH} at most")
    code = int(CODE) + thread * int(CODE_LENGTH)
    for line, step in enumerate(program):
        if isinstance(step, Do):
            after = to(line + 1) if step.op != Op.END else 0
            jumps = after << 8 | label(step.otherwise) << 16 | label(step.elsewhere) << 24
            setting[code + place[line]] = U(step.op | jumps | step.arg << 32 | step.second << 40)
    places = {name: label(name) for name in lines}
    # Where there is no such part, its first place lies behind its last one.
    first = int(SECTION) + 4 * thread
    setting[first] = places.get("section", 1)
    setting[first + 1] = places.get("end of section", 1) - 1
    setting[first + 2] = places.get("writing", 1)
    setting[first + 3] = places.get("written", 1) - 1
    setting[int(READER) + thread] = page
