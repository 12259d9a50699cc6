"""What a wrapped sequence does: comparisons that say locked, or unlocked, and are wrong."""

import numpy as np

from lorelab.checker import njit
from lorelab.numerics import ONE, ZERO, U
from lorelab.vmalock.model.protocol import state as st
from lorelab.vmalock.model.protocol.ops import (
    ARG_AT,
    BYTE,
    IF_NOT_MARKED,
    SECOND_AT,
    UNLESS_EQUAL,
)

COUNTS = ("read", "locked", "false_locked", "false_unlocked", "taken_for_marked", "overtaken")
READ, LOCKED, FALSE_LOCKED, FALSE_UNLOCKED, TAKEN, OVERTAKEN = range(6)


@njit
def compared(states, setting, counts):
    """Go through the states and count what is about to be compared in each.

    Parameters
    ----------
    states : (n, WORDS) array
        Of a search to its end.
    setting : (SETTING,) array
    counts : (6,) array
        Filled in the order of `COUNTS`: comparisons by readers; those that say locked; of these,
        those of a VMA that no writer has marked; late ones that say unlocked of one that a writer
        has marked; VMAs that a writer takes for marked though it has not marked them; states in
        which a fault is handled under the lock of a VMA that a writer believes is its own.
    """
    for n in range(U(len(states))):
        state = states[n]
        for thread in range(setting[st.N_THREADS]):
            pc = st.tget(state, thread, st.PC)
            instruction = setting[st.CODE + thread * st.CODE_LENGTH + pc]
            vma = st.tget(state, thread, st.VMA)
            if (instruction >> SECOND_AT) & ONE:
                vma = st.tget(state, thread, st.LOADED)
            if vma == ZERO:
                continue
            marked = st.vget(state, vma, st.MARKED)
            if st.in_section(state, thread, setting) and marked:
                counts[OVERTAKEN] += ONE
            op = instruction & BYTE
            seq = st.get(state, st.SEQ)
            if op == UNLESS_EQUAL:
                counts[READ] += ONE
                if st.tget(state, thread, st.LOADED_SEQ) == seq:
                    counts[LOCKED] += ONE
                    counts[FALSE_LOCKED] += ONE - marked
                elif (instruction >> ARG_AT) & ONE:
                    counts[FALSE_UNLOCKED] += marked
            elif op == IF_NOT_MARKED and not marked:
                counts[TAKEN] += U(st.vget(state, vma, st.VM_LOCK_SEQ) == seq)
    return counts


def count(states: np.ndarray, setting: np.ndarray) -> dict[str, int]:
    """The counts by name."""
    counts = compared(states, setting, np.zeros(len(COUNTS), U))
    return dict(zip(COUNTS, counts.tolist(), strict=True))
