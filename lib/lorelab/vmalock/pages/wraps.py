"""Numbers of VMAs that are a whole wrap old: what they break, and what can be done about them."""

import numpy as np
import pandas as pd

from lorelab.checker import path
from lorelab.params import label
from lorelab.vmalock.experiments import protocol
from lorelab.vmalock.model.protocol import configurations, state, writers
from lorelab.vmalock.model.protocol.configurations import MODEL, Configuration
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.pages.searches import interleaving
from lorelab.vmalock.params import TRAITS, Variant

BITS = 3
"""Of the sequences in `old_mark`; two threads do not count through a wrap of them."""


WRITERS = {
    "flags": Configuration((("fault", 0), ("flags", 0))),
    "unmap": Configuration((("fault", 0), ("unmap", 0))),
    "fork": Configuration((("fault", 0), ("fork", 0)), "one"),
}
"""One fault and one writer."""


def old_mark(variant: Variant, writer: str, rule: Rule) -> protocol.Searched:
    """Search one fault and one writer of a VMA that was last write-locked a whole wrap ago.

    The next writer raises mm_lock_seq to the number that the VMA has kept, so that
    `vma_start_write()` takes it for write-locked. Nobody else is there.
    """
    chosen = WRITERS[writer]
    begun = configurations.first(variant, chosen, BITS)
    word, shift, _ = (int(part) for part in state.SEQ)
    begun[word] |= np.uint64((1 << BITS) - 2 << shift)
    return protocol.search(variant, chosen, BITS, rules=frozenset([rule]), begun=begun)


def old_marks(variants: tuple[Variant, ...]) -> pd.DataFrame:
    """Steps of the shortest interleaving of `old_mark` that breaks each rule; "" where none does.

    Returns
    -------
    DataFrame
        A row for each variant and writer, a column for each rule that breaks in some row.
    """
    rows = {}
    for variant in variants:
        for writer in WRITERS:
            for rule in sorted(configurations.IN_A_STATE):
                outcome = old_mark(variant, writer, rule)
                if outcome.rule:
                    steps = len(path(MODEL, outcome.explored, outcome.setting, outcome.index))
                    rows.setdefault((label(variant), writer), {})[rule.name] = str(steps)
    return pd.DataFrame(rows).T.rename_axis(["version", "writer"]).fillna("")


BROKEN = {
    Variant.V6_12: {"unmap": Rule.ALIVE, "flags": Rule.EXCLUDED, "fork": Rule.FORKED},
    Variant.V7_3: {"unmap": Rule.EXCLUDED, "flags": Rule.EXCLUDED, "fork": Rule.FORKED},
}
"""Which broken rule of `old_marks` the pages show step by step, by version and writer."""


def meetings() -> dict[tuple[str, str], pd.DataFrame]:
    """The shortest interleaving of `old_mark` to each of `BROKEN`, by version and writer."""
    return {
        (label(variant), writer): interleaving(old_mark(variant, writer, rule))
        for variant, broken in BROKEN.items()
        for writer, rule in broken.items()
    }


FIXES = {
    "none": frozenset(),
    "no early return": frozenset(["__is_vma_write_locked"]),
    "numbers reset at a wrap": frozenset([writers.RESET]),
    "and even at first": frozenset([writers.RESET, writers.EVEN_FIRST]),
}
"""What can be done about old numbers; the third one is what 7135a05838e8 says that it does."""


def through_a_wrap(writer: str, others: int) -> Configuration:
    """A fault and a writer in a VMA, and as many other writers as make the sequence wrap."""
    alone = WRITERS[writer]
    return alone._replace(threads=(*alone.threads, *[("flags", 1)] * others), layout="two")


def wrapped(
    variant: Variant, writer: str, fix: frozenset[str], once: bool = False
) -> protocol.Searched:
    """Search a run of one fault and writers that goes through a wrap of two bits.

    A VMA's number is one writer short of a wrap old at first; or `once`, all VMAs were write-locked
    by a writer that has just ended. `AGAIN` is not asked: an even number is the mm's once a round
    while no writer is in, and a fault then goes to mmap_lock.
    """
    bits, others = 2, 3
    chosen = through_a_wrap(writer, others)
    begun = configurations.first(variant, chosen, bits, fix)
    if once:
        step = 1 + TRAITS[variant].seqcount
        _put(begun, state.SEQ, step)
        for n in range(len(configurations.LAYOUTS[chosen.layout])):
            _put(begun, state.VM_LOCK_SEQ, step - 1, n * int(state.VMA_BITS))
    rules = configurations.IN_A_STATE - {Rule.AGAIN}
    return protocol.search(variant, chosen, bits, fix, rules, begun)


def _put(begun: np.ndarray, field: tuple, value: int, further: int = 0) -> None:
    word, shift, mask = (int(part) for part in field)
    place = shift + further
    begun[word] &= ~np.uint64(mask << place)
    begun[word] |= np.uint64(value << place)


def fixes(variants: tuple[Variant, ...]) -> pd.DataFrame:
    """Which rule breaks first in `wrapped`, by what is done about old numbers.

    Returns
    -------
    DataFrame
        A row for each variant, what became of the VMA before, and writer; a column for each of
        `FIXES`; "" where all rules hold.
    """
    rows = {}
    for variant in variants:
        for once, before in ((False, "never"), (True, "once")):
            for writer in WRITERS:
                for name, fix in FIXES.items():
                    rule = wrapped(variant, writer, fix, once).rule
                    row = rows.setdefault((label(variant), before, writer), {})
                    row[name] = rule.name if rule else ""
    return pd.DataFrame(rows).T.rename_axis(["version", "write-locked", "writer"])
