"""The states that follow one: each thread that can take its next step takes it."""

from lorelab.checker import successors
from lorelab.numerics import ONE, ZERO, U, forceinline
from lorelab.vmalock.model.protocol import state as st
from lorelab.vmalock.model.protocol.ops import (
    ARG_AT,
    BLOCKED,
    BYTE,
    ELSEWHERE_AT,
    END,
    NEXT,
    NEXT_AT,
    OTHERWISE,
    OTHERWISE_AT,
    SECOND_AT,
)
from lorelab.vmalock.model.protocol.state import LOADED, PC, VMA, tget, tput
from lorelab.vmalock.model.protocol.steps import execute


@forceinline
def _exchange(state, thread):
    """A writer that works on two VMAs keeps the second where readers keep what they loaded."""
    vma = tget(state, thread, VMA)
    tput(state, thread, VMA, tget(state, thread, LOADED))
    tput(state, thread, LOADED, vma)


@successors
def successor(state, following, steps, setting):
    """Each thread's next step, where it can be taken. A step is thread * 128 + its place."""
    n = ZERO
    for thread in range(setting[st.N_THREADS]):
        pc = tget(state, thread, PC)
        instruction = setting[st.CODE + thread * st.CODE_LENGTH + pc]
        op = instruction & BYTE
        if op == END:
            continue
        after = following[n]
        for word in range(U(st.WORDS)):
            after[word] = state[word]
        second = (instruction >> SECOND_AT) & ONE
        if second:
            _exchange(after, thread)
        ended = execute(after, thread, op, (instruction >> ARG_AT) & BYTE, setting)
        if ended == BLOCKED:
            continue
        if second:
            _exchange(after, thread)
        if ended == NEXT:
            to = instruction >> NEXT_AT
        elif ended == OTHERWISE:
            to = instruction >> OTHERWISE_AT
        else:
            to = instruction >> ELSEWHERE_AT
        tput(after, thread, PC, to & BYTE)
        steps[n] = thread * st.CODE_LENGTH + pc
        n += ONE
    return n
