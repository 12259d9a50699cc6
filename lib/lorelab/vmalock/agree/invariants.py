"""What follows from a program, in whatever order its threads get on, against what a kernel counted.

Such counters have to be equal: one more or less of anything fails. What is left depends on who
comes first, and how fast two emulated CPUs are is not a thing that the model could know: it is not
judged.

The rest is what `faulters.c` (lib/kernel/vmalock/guest) comes to, for `vmalock/threads` and
`vmalock/taken` alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lorelab.errors import NoModel
from lorelab.judging.agreement import IDENTITY, Agreement
from lorelab.lab.records import Record
from lorelab.params import label
from lorelab.vmalock.params import Faulters, Variant, variant_of

REASONS = ("step_no_vma", "step_early", "step_trylock", "step_late", "step_range")
SUMS = {
    "locked + refused": ("locked", "refused"),
    "success + retry + abort": ("vma_lock_success", "vma_lock_retry", "vma_lock_abort"),
    "reasons of vma_lock_abort": REASONS,
    "step_marked + step_wait": ("step_marked", "step_wait"),
}
"""Counters that are compared together."""
HUGE = 512
"""Pages of a huge page; an area of as many could have one, and a fault that maps all of them."""


class Calls(NamedTuple):
    """What a mapper does in a round."""

    writes: int
    """System calls that take mmap_lock for writing."""
    downgrades: int
    """Of these the calls of munmap(), which go on as readers (`vms_complete_munmap_vmas()`)."""
    marks: int
    """VMAs that are marked, where no other mapper is about."""
    marked_again: int
    """VMAs that are marked once more by who has marked them."""


CALLS = {
    # mmap() marks its VMA (1). mprotect() of its first page marks both halves of the split (2,
    # `__split_vma()`) and the first of them once more (`mprotect_fixup()`). munmap() marks both (2,
    # `vms_gather_munmap_vmas()`). Nothing of it merges: it lies below all other mappings, under an
    # area's last page, which nobody may touch.
    "private": Calls(writes=3, downgrades=1, marks=5, marked_again=1),
    # madvise() marks the VMA whose flags it changes (`madvise_update_vma()`).
    "shared": Calls(writes=1, downgrades=0, marks=1, marked_again=0),
    # mmap() marks the area, which grows (1, `vma_expand()`). munmap() marks both halves of the
    # split (2), and the one that goes once more.
    "merging": Calls(writes=2, downgrades=1, marks=3, marked_again=1),
}


def variant_with_rules(record: Record, *variants: Variant) -> Variant:
    """The variant that a kernel has, one of those whose rules are known.

    Raises
    ------
    NoModel
        It is another.
    """
    release = record.provenance.kernel.release
    variant = variant_of(release)
    if variant not in variants:
        rules = " or ".join(label(variant) for variant in variants)
        raise NoModel(f"the kernel is {release}, and the rules are {rules}'s: nothing is compared")
    return variant


def judge(
    expected: dict[str, int],
    counters: pd.DataFrame,
    left: Sequence[str],
    identities: Sequence[str] = (),
) -> Agreement:
    """Compare.

    Parameters
    ----------
    expected : dict of str to int
        What follows from the program, by counter or one of `SUMS`.
    counters : DataFrame
        Of the kernel.
    left : sequence of str
        Counters that the order of events decides; those in `expected` are judged all the same.
    identities : sequence of str
        Those in `expected` whose `model` is a sum of other counters of the kernel, that do not
        follow from the program themselves (`lorelab.judging.agreement.IDENTITY`).
    """
    kernel = counters.set_index("counter")
    rows = []
    for name, value in expected.items():
        terms = kernel.loc[list(SUMS.get(name, (name,)))]
        rows.append(
            {
                "counter": name,
                "unit": terms["unit"].iloc[0],
                "model": int(value),
                "kernel": int(terms["value"].sum()),
            }
        )
    table = pd.DataFrame(rows).assign(agrees=lambda t: t["model"] == t["kernel"], detectable=0.0)
    aside = {name: IDENTITY for name in table["counter"] if name in set(identities)}
    ours = table[~table["counter"].isin(aside) | ~table["agrees"]]
    method = (
        f"{ours['agrees'].sum()} of {len(ours)} counters are what follows from the program, exactly"
    )
    shown = ", ".join(name for name in left if name in kernel.index and name not in expected)
    if shown:
        method += f"; not judged, for the order of events decides: {shown}"
    return Agreement.of(table, method, aside)


def faults(params: Faulters) -> int | None:
    """Page faults of the faulters; None where the order of events decides.

    A faulter touches each of its pages and drops them all, in every round. Who shares the area with
    others finds pages that another one has touched.
    """
    shared = params.mode != "private" and params.faulters > 1
    return None if shared or params.pages >= HUGE else drops(params) * params.pages


def drops(params: Faulters) -> int:
    """Calls of madvise() by which faulters drop their pages."""
    return params.faulters * params.rounds


def calls(params: Faulters) -> Calls:
    """What all mappers do together.

    Of several, marks depend on the order of events: mappings of two mappers merge where they meet,
    and a flag that another one has set is no change.
    """
    rounds = params.mappers * params.rounds
    return Calls(*(rounds * n for n in CALLS[params.mode]))
