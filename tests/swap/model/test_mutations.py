"""Mutations of the model that the comparison with the oracle must catch.

The model's modules are loaded a second time with a line changed and numba taken out, so that each
mutation runs at once as plain Python. The unchanged source has to agree with the oracle the same
way, or a difference would prove nothing.
"""

import random
from pathlib import Path

import numpy as np
import pytest

from lorelab.swap import model
from lorelab.swap.params import Variant
from tests import mutated
from tests.swap.model import oracle
from tests.swap.model.test_swap_slots import state

MODULES = ("state", "ssd_cluster", "scan", "v6_12", "v7_2", "swap_slots")

MUTATIONS = {
    # Lists: which end, and which list.
    "move to the head": (
        "state",
        "    list_add_tail(si, idx, head)\n\n\n@forceinline\ndef list_first",
        "    list_add_tail(si, idx, list_first(si, head))\n\n\n@forceinline\ndef list_first",
    ),
    "columns of 31": ("state", "SWAP_CLUSTER_COLS = U(32)", "SWAP_CLUSTER_COLS = U(31)"),
    "frag cluster stays where it is": (
        "v6_12",
        "        idx = list_first(si, frag_head)\n        list_move_tail(si, idx, frag_head)\n",
        "        idx = list_first(si, frag_head)\n",
    ),
    "freed frag cluster stays frag": (
        "v6_12",
        "elif ci.flags != CLUSTER_FLAG_NONFULL:",
        "elif ci.flags == CLUSTER_FLAG_FULL:",
    ),
    "full cluster stays nonfull": (
        "v6_12",
        "if ci.count == SWAPFILE_CLUSTER:\n        if",
        "if ci.count > SWAPFILE_CLUSTER:\n        if",
    ),
    "steals from nonfull first": (
        "v6_12",
        "(FRAG + order, NONFULL + order)",
        "(NONFULL + order, FRAG + order)",
    ),
    # Search: steps and ends.
    "step of one slot": ("v6_12", "following = found + nr_pages\n", "following = found + ONE\n"),
    "last range of a cluster is never current": (
        "v6_12",
        "following + nr_pages > end",
        "following + nr_pages >= end",
    ),
    "a cluster with just enough room is refused": (
        "v6_12",
        "count + nr_pages > SWAPFILE_CLUSTER",
        "count + nr_pages >= SWAPFILE_CLUSTER",
    ),
    "one frag cluster too few": (
        "v6_12",
        "frags < si.frag_cluster_nr[order]",
        "frags + ONE < si.frag_cluster_nr[order]",
    ),
    "order 0 never steals": ("v6_12", "order == ZERO and si.info[0].stealing", "False"),
    # Orders and counts.
    "first allocation does not set the order": ("v6_12", "        ci.order = order\n", ""),
    "a free cluster keeps its order": ("v6_12", "        ci.order = 0\n", ""),
    "failed goal is not given back": ("swap_slots", "(n_goal - n_ret) * size", "(n_goal - n_ret)"),
    # What a slot holds, and what is read of it.
    "cached slots count as in use": (
        "v6_12",
        "reclaims = si.info[0].reclaims and",
        "reclaims = False and",
    ),
    "cached slots are always looked past": (
        "v6_12",
        "si.info[0].reclaims and vm_swap_full(si)",
        "si.info[0].reclaims",
    ),
    "a slot handed out stays cached": (
        "swap_slots",
        "ONE << order, SWAP_IN_USE)",
        "ONE << order, SWAP_HAS_CACHE)",
    ),
    "a freed slot stays in use": ("swap_slots", "    si.swap_map[offset] = SWAP_HAS_CACHE\n", ""),
    "full from two thirds on": ("state", "nr_swap_pages * U(2) <", "nr_swap_pages * U(3) <"),
    # The linear scan of a rotational device.
    "the run of free slots is one too short": (
        "scan",
        "last_in_cluster = offset + SWAPFILE_CLUSTER - ONE",
        "last_in_cluster = offset + SWAPFILE_CLUSTER - U(2)",
    ),
    # Slot caches.
    "cache active too late": ("swap_slots", "U(5) * SWAP_BATCH", "U(6) * SWAP_BATCH"),
    "cache inactive too early": ("swap_slots", "U(2) * SWAP_BATCH", "U(3) * SWAP_BATCH"),
    "batch of 63": ("state", "SWAP_BATCH = U(64)", "SWAP_BATCH = U(63)"),
    "freed slots go straight back": ("swap_slots", "and si.info[0].free_cache)", "and ZERO)"),
    "slots taken ahead are not drained": (
        "swap_slots",
        "range(cur, cur + si.slots_nr[cpu])",
        "range(0)",
    ),
}


def load(mutation=None):
    files = [Path(model.__path__[0]) / f"{name}.py" for name in MODULES]
    return mutated.load("lorelab.swap.model", files, mutation)


def agrees(mutant, pages, cpus, orders, seed, caches=True, rotational=False):
    """Fill a device order by order and free two thirds, ten times; True when nothing differs."""
    draw, doors = random.Random(seed), mutant.swap_slots
    si = mutant.state.swapon(
        pages, Variant.V6_12, cpus, slot_cache=caches, free_cache=caches, rotational=rotational
    )
    judge = oracle.Swap(pages, cpus, caches, caches, rotational=rotational)
    live = []
    for _ in range(10):
        for order in draw.sample(orders, len(orders)):
            for _ in range(draw.choice((5, 50, 2000))):
                cpu = draw.randrange(cpus)
                offset = oracle.folio_alloc_swap(judge, cpu, order)
                if doors.folio_alloc_swap(si, np.uint64(cpu), np.uint64(order)) != offset:
                    return False
                if not offset:
                    break
                live.append((offset, order))
            if state(si) != judge.state():
                return False
        draw.shuffle(live)
        for _ in range(len(live) * 2 // 3):
            offset, order = live.pop()
            if order:
                oracle.swap_entry_range_free(judge, offset, 1 << order)
                doors.swap_entry_range_free(si, np.uint64(offset), np.uint64(1 << order))
            else:
                cpu = draw.randrange(cpus)
                oracle.free_swap_slot(judge, cpu, offset)
                doors.free_swap_slot(si, np.uint64(cpu), np.uint64(offset))
        if state(si) != judge.state():
            return False
    return True


def agrees_everywhere(mutant):
    return (
        agrees(mutant, 380, 1, (0, 2, 4), seed=1)
        and agrees(mutant, 1030, 1, (0, 2, 4), seed=1)
        and agrees(mutant, 2048, 2, (4, 0, 3, 5), seed=2)
        and agrees(mutant, 1536, 3, (0, 2, 6), seed=7, caches=False)
        and agrees(mutant, 3000, 3, (2, 3, 4), seed=4, caches=False)
        and agrees(mutant, 34 * 512, 1, (9, 4, 8), seed=5)
        and agrees(mutant, 2048, 2, (0,), seed=6, rotational=True)
    )


def test_the_model_itself_agrees():
    assert agrees_everywhere(load())


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(mutation):
    assert mutated.caught(agrees_everywhere, load(MUTATIONS[mutation]))
