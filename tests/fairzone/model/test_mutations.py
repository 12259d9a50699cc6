"""Mutations of the model that the comparison with the oracle must catch.

The model's modules are loaded a second time with a line changed and numba taken out, so that each
mutation runs at once as plain Python. The unchanged source has to agree with the oracle the same
way, or a difference would prove nothing.
"""

from pathlib import Path

import pytest

from lorelab.fairzone import model, workload
from lorelab.fairzone.params import Variant
from lorelab.numerics import U
from tests import mutated
from tests.fairzone.model.test_oracle import differences
from tests.fairzone.oracle import Machine

MODULES = ("zones", "vmstat", "pcp", "page_alloc", "lru", "slab", "vmscan", "filemap")

MUTATIONS = {
    # Batches: when they are used up, folded, and started anew.
    "a reset adds the whole batch": (
        "page_alloc",
        "zone.batch - zone.nr_alloc_batch)",
        "zone.batch)",
    ),
    "an allocation is not counted": ("page_alloc", "cpu, -pages)", "cpu, 0)"),
    "folded one page late": (
        "vmstat",
        "x > zone.threshold or x < -zone.threshold",
        "abs(x) > zone.threshold + 1",
    ),
    "what is folded stays": ("vmstat", "        x -= x\n", ""),
    "flag set too late": (
        "page_alloc",
        "rule == FLAG_BELOW and zone.nr_alloc_batch <= 0",
        "rule == FLAG_BELOW and zone.nr_alloc_batch < 0",
    ),
    "a reset keeps the flag": ("page_alloc", "        zone.depleted = 0\n", ""),
    # Who resets, and what follows.
    "always resets": ("page_alloc", "    return not left\n", "    return True\n"),
    "merged resets without a skip": (
        "page_alloc",
        "        return skipped != ZERO\n",
        "        return True\n",
    ),
    "merged rescans anyway": (
        "page_alloc",
        "if not (info.rescans_anyway or",
        "if not (True or",
    ),
    # Watermarks and reserves.
    "low is enough": ("page_alloc", "free > mark + node.", "free >= mark + node."),
    "no reserve": (
        "page_alloc",
        "free > mark + node.lowmem_reserve[z, classzone]",
        "free > mark",
    ),
    "no dirty limit": (
        "page_alloc",
        "if writes and mark_low and not zone_dirty_ok(node, z)",
        "if False",
    ),
    "one LRU, and a dirty limit a zone": (
        "page_alloc",
        "    if node.info[0].node_lru:\n        return node_dirty_ok(node, z)\n",
        "",
    ),
    # Reclaim and lists.
    "reclaims from the head": (
        "vmscan",
        "        frame = U(frames.prev[head])\n        lru_del(frames, frame, lru, INACTIVE)",
        "        frame = U(frames.next[head])\n        lru_del(frames, frame, lru, INACTIVE)",
    ),
    "no balance gap": (
        "vmscan",
        "if zone_balanced(mm, z, gap, classzone):",
        "if zone_balanced(mm, z, 0, classzone):",
    ),
    "kswapd never naps": ("vmscan", "NAPPING if kswapd.nap else ASLEEP", "ASLEEP"),
    "a second use does not activate": (
        "filemap",
        "    elif flags & PG_ACTIVE == 0:\n",
        "    elif False:\n",
    ),
}  # fmt: skip


def load(mutation=None):
    files = [Path(model.__path__[0]) / f"{name}.py" for name in MODULES]
    files.append(Path(workload.__path__[0]) / "files.py")
    return mutated.load("lorelab.fairzone.model", files, mutation)


def agrees(mutant, variant, cpus=2, local=(20, 260, 400), rate=30_000):
    """Write, fsync and read, by mutant and oracle."""
    node = mutant.zones.make(list(local), variant, cpus, 128)
    pages = sum(local) * 3 // 2
    mm = mutant.filemap.make(node, pages, 40)
    told = Machine(variant, list(local), [], cpus, False, 128, 40)
    for writes in (True, False):
        numbers = (0, pages, 0, pages, 1, 32, 8)
        mutant.files.sequential(mm, *(U(n) for n in numbers), rate, writes)
        told.sequential(pages, 1, 32, 8, rate, writes)
        if writes:
            mutant.filemap.writeback(mm, mm.ring[1])
            told.writeback(len(told.dirtied))
    return differences(mm, told) == {}


def agrees_everywhere(mutant):
    return (
        agrees(mutant, Variant.BASELINE)
        and agrees(mutant, Variant.V1_REACHABLE, rate=2000)
        and agrees(mutant, Variant.FIXED, cpus=1)
        and agrees(mutant, Variant.MERGED, rate=1100)
        and agrees(mutant, Variant.NODE_LRU)
    )


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_model_itself_agrees():
    assert agrees_everywhere(load())


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(mutation):
    assert mutated.caught(agrees_everywhere, load(MUTATIONS[mutation]))
