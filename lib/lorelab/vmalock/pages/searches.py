"""What a search of the protocol found, for pages: tables, and an interleaving step by step."""

import numpy as np
import pandas as pd

from lorelab.checker import path
from lorelab.vmalock.experiments.protocol import Searched, of_mm, register, search
from lorelab.vmalock.model.protocol import configurations, state
from lorelab.vmalock.model.protocol.configurations import MODEL, MUTATIONS
from lorelab.vmalock.params import Variant


def interleaving(search: Searched) -> pd.DataFrame:
    """The shortest way to the broken rule, step by step; empty where all rules hold.

    Empty also where nobody can come to an end from the first state on.

    Returns
    -------
    DataFrame
        `step` from 1, `thread` as `0 fault`, `statement`, and what it left behind: `mm_lock_seq`,
        `mmap_lock` (`free`, `write`, or how many read), and of the VMA that the last step is about
        (the first one, where none is) `vm_lock_seq`, and `count` and `exclusive` of its lock.
    """
    way = path(MODEL, search.explored, search.setting, search.index) if search.rule else []
    if not way:
        return pd.DataFrame()
    states = np.array([after for _, after in way])
    numbers = [number for number, _ in way]
    threads = [number // int(state.CODE_LENGTH) for number in numbers]
    vmas = [int(register(states[n : n + 1], t, state.VMA)[0]) for n, t in enumerate(threads)]
    about = next((vma for vma in reversed(vmas) if vma), 1)
    readers = of_mm(states, state.MMAP_READERS)
    written = of_mm(states, state.MMAP_WRITER) > 0
    shared = np.where(readers > 0, [f"{n} reading" for n in readers], "free")
    steps = [configurations.step(*search[:3], number) for number in numbers]
    return pd.DataFrame(
        {
            "step": range(1, len(way) + 1),
            "thread": [f"{thread} {search.chosen.threads[thread][0]}" for thread in threads],
            "statement": [step.name for step in steps],
            "mm_lock_seq": of_mm(states, state.SEQ),
            "mmap_lock": np.where(written, "write", shared),
            "vm_lock_seq": of_vma(states, about, state.VM_LOCK_SEQ),
            "count": of_vma(states, about, state.COUNT),
            "exclusive": of_vma(states, about, state.EXCLUSIVE),
        }
    )


def written(steps: pd.DataFrame, refcount: bool = False) -> str:
    """An interleaving as text: a line a step, an indent of its own for each thread.

    Parameters
    ----------
    steps : DataFrame
        Of `interleaving`.
    refcount : bool
        The VMA's lock is the count of 7.3 and not a semaphore.

    Returns
    -------
    str
        Who goes on, where that changes; number and statement of the step; and on its right what
        it changed of the two sequences, of mmap_lock, and of the lock of the VMA.
    """
    threads = sorted(set(steps["thread"]))
    statements = [
        f"{'' if thread == before else thread:<9}{step:>2}  {'    ' * threads.index(thread)}{name}"
        for before, thread, step, name in zip(
            steps["thread"].shift(), steps["thread"], steps["step"], steps["statement"], strict=True
        )
    ]
    count, exclusive = steps["count"].astype(str), steps["exclusive"] > 0
    if refcount:
        lock = {"vm_refcnt": np.where(exclusive, count + " + flag", count)}
    else:
        lock = {"vm_lock": np.where(exclusive, "write", count + " reading")}
    cells = pd.DataFrame(
        {
            "mm_lock_seq": steps["mm_lock_seq"].astype(str),
            "mmap_lock": steps["mmap_lock"],
            "vm_lock_seq": steps["vm_lock_seq"].astype(str),
            **lock,
        }
    ).replace("0 reading", "free")
    first = ", ".join(f"{name} {value}" for name, value in cells.iloc[0].items())
    changed = cells != cells.shift().fillna(cells)
    after = [
        ", ".join(f"{name} {value}" for name, value in row.items() if changed.loc[n, name])
        for n, row in cells.iterrows()
    ]
    width = max(map(len, statements)) + 2
    lines = [
        f"{line:<{width}}{last}".rstrip() for line, last in zip(statements, after, strict=True)
    ]
    return "\n".join([f"at first: {first}", *lines])


def mutant(variant: Variant, name: str, sequence_bits: int = 3) -> Searched:
    """What the search says of a mutation, in the configuration that it brings."""
    chosen = configurations.CONFIGURATIONS[MUTATIONS[name].configuration]
    return search(variant, chosen, sequence_bits, configurations.mutated(variant, name))


def mutations(variant: Variant, sequence_bits: int = 3) -> pd.DataFrame:
    """What the search says of each mutation: a row each, with the first rule that breaks."""
    rows = []
    for name in configurations.mutations(variant):
        mutation = MUTATIONS[name]
        outcome = mutant(variant, name, sequence_bits)
        rows.append(
            {
                "mutation": name.upper(),
                "what": mutation.what,
                "configuration": mutation.configuration,
                "breaks": outcome.rule.name if outcome.rule else "",
                "steps": len(path(MODEL, outcome.explored, outcome.setting, outcome.index)),
            }
        )
    return pd.DataFrame(rows)


def verdicts(variant: Variant, sequence_bits: int = 3) -> pd.DataFrame:
    """What the search says of each configuration of the book, nothing left out."""
    rows = []
    for name, chosen in configurations.CONFIGURATIONS.items():
        outcome = search(variant, chosen, sequence_bits)
        rows.append(
            {
                "configuration": name,
                "threads": ", ".join(f"{program} {page}" for program, page in chosen.threads),
                "states": len(outcome.explored.states),
                "transitions": outcome.explored.transitions,
                "breaks": outcome.rule.name if outcome.rule else "",
            }
        )
    return pd.DataFrame(rows)


def of_vma(states: np.ndarray, vma: int, field: tuple) -> np.ndarray:
    """A field of a VMA in each state; (n,) int64."""
    word, shift, mask = (int(part) for part in field)
    place = shift + (vma - 1) * int(state.VMA_BITS)
    return (states[:, word] >> np.uint64(place)).astype(np.int64) & mask
