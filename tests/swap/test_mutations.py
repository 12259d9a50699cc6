"""Mutations of the model that the comparison with the oracle must catch.

The model's modules are loaded a second time with a line changed and numba taken out, so that each
mutation runs at once as plain Python. The unchanged source has to agree with the oracle the same
way, or a difference would prove nothing.
"""

import random
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import oracle
import pytest
from test_model import state

import lorelab.swap
from lorelab.swap.params import Variant

MODULES = ("clusters", "ssd_cluster", "scan", "model")

WITHOUT_NUMBA = {
    "clusters": [
        ("import numba\n", "from test_mutations import Records, WithoutNumba as numba\n"),
        ("np.zeros(1, INFO)", "np.zeros(1, INFO).view(Records)"),
        (", CLUSTER_INFO)", ", CLUSTER_INFO).view(Records)"),
    ]
}

MUTATIONS = {
    # Lists: which end, and which list.
    "move to the head": (
        "clusters",
        "    list_add_tail(si, idx, head)\n\n\n@njit\ndef list_first",
        "    list_add_tail(si, idx, list_first(si, head))\n\n\n@njit\ndef list_first",
    ),
    "columns of 31": ("clusters", "SWAP_CLUSTER_COLS = U(32)", "SWAP_CLUSTER_COLS = U(31)"),
    "frag cluster stays where it is": (
        "model",
        "        idx = list_first(si, frag_head)\n        list_move_tail(si, idx, frag_head)\n",
        "        idx = list_first(si, frag_head)\n",
    ),
    "freed frag cluster stays frag": (
        "model",
        "elif ci.flags != CLUSTER_FLAG_NONFULL:",
        "elif ci.flags == CLUSTER_FLAG_FULL:",
    ),
    "full cluster stays nonfull": (
        "model",
        "if ci.count == SWAPFILE_CLUSTER:\n        if",
        "if ci.count > SWAPFILE_CLUSTER:\n        if",
    ),
    "steals from nonfull first": (
        "model",
        "(FRAG + order, NONFULL + order)",
        "(NONFULL + order, FRAG + order)",
    ),
    # Search: steps and ends.
    "step of one slot": ("model", "following = found + nr_pages\n", "following = found + ONE\n"),
    "last range of a cluster is never current": (
        "model",
        "following + nr_pages > end",
        "following + nr_pages >= end",
    ),
    "a cluster with just enough room is refused": (
        "model",
        "count + nr_pages > SWAPFILE_CLUSTER",
        "count + nr_pages >= SWAPFILE_CLUSTER",
    ),
    "one frag cluster too few": (
        "model",
        "frags < si.frag_cluster_nr[order]",
        "frags + ONE < si.frag_cluster_nr[order]",
    ),
    "order 0 never steals": ("model", "order == ZERO and si.info[0].stealing", "False"),
    # Orders and counts.
    "first allocation does not set the order": ("model", "        ci.order = order\n", ""),
    "a free cluster keeps its order": ("model", "        ci.order = 0\n", ""),
    "failed goal is not given back": ("model", "(n_goal - n_ret) * size", "(n_goal - n_ret)"),
    # What a slot holds, and what is read of it.
    "cached slots count as in use": (
        "model",
        "reclaims = si.info[0].variant == V6_12 and",
        "reclaims = False and",
    ),
    "cached slots are always looked past": (
        "model",
        "variant == V6_12 and vm_swap_full(si)",
        "variant == V6_12",
    ),
    "a slot handed out stays cached": (
        "model",
        "ONE << order, SWAP_IN_USE)",
        "ONE << order, SWAP_HAS_CACHE)",
    ),
    "a freed slot stays in use": ("model", "    si.swap_map[offset] = SWAP_HAS_CACHE\n", ""),
    "full from two thirds on": ("clusters", "nr_swap_pages * U(2) <", "nr_swap_pages * U(3) <"),
    # The linear scan of a rotational device.
    "the run of free slots is one too short": (
        "scan",
        "last_in_cluster = offset + SWAPFILE_CLUSTER - ONE",
        "last_in_cluster = offset + SWAPFILE_CLUSTER - U(2)",
    ),
    # Slot caches.
    "cache active too late": ("model", "U(5) * SWAP_BATCH", "U(6) * SWAP_BATCH"),
    "cache inactive too early": ("model", "U(2) * SWAP_BATCH", "U(3) * SWAP_BATCH"),
    "batch of 63": ("clusters", "SWAP_BATCH = U(64)", "SWAP_BATCH = U(63)"),
    "freed slots go straight back": ("model", "and si.info[0].free_cache)", "and ZERO)"),
    "slots taken ahead are not drained": (
        "model",
        "range(cur, cur + si.slots_nr[cpu])",
        "range(0)",
    ),
}


class WithoutNumba:
    @staticmethod
    def njit(**_):
        return lambda function: function


class Record:
    """One row of a structured array whose fields are attributes, as numba has it."""

    def __init__(self, row):
        object.__setattr__(self, "row", row)

    def __getattr__(self, name):
        return self.row[name]

    def __setattr__(self, name, value):
        self.row[name] = value

    def __getitem__(self, name):
        return self.row[name]


class Records(np.ndarray):
    def __getitem__(self, key):
        found = super().__getitem__(key)
        return Record(found) if isinstance(found, np.void) else found


def load(module=None, old="", new=""):
    """The model as plain Python, with `old` in `module` turned into `new`."""
    folder = Path(lorelab.swap.__file__).parent
    for name in MODULES:
        text = (folder / f"{name}.py").read_text()
        changes = list(WITHOUT_NUMBA.get(name, []))
        if name == module:
            changes.append((old, new))
        for before, after in changes:
            assert text.count(before) == 1, f"{name}.py has {before!r} {text.count(before)} times"
            text = text.replace(before, after)
        for other in MODULES:
            text = text.replace(f"from lorelab.swap.{other} import", f"from mutant_{other} import")
        mutant = sys.modules[f"mutant_{name}"] = ModuleType(f"mutant_{name}")
        exec(compile(text, f"mutant of {name}.py", "exec"), mutant.__dict__)
    return sys.modules["mutant_model"]


def agrees(model, pages, cpus, orders, seed, caches=True, rotational=False):
    """Fill a device order by order and free two thirds, ten times; True when nothing differs."""
    draw = random.Random(seed)
    si = model.swapon(
        pages, Variant.V6_12, cpus, slot_cache=caches, free_cache=caches, rotational=rotational
    )
    judge = oracle.Swap(pages, cpus, caches, caches, rotational=rotational)
    live = []
    for _ in range(10):
        for order in draw.sample(orders, len(orders)):
            for _ in range(draw.choice((5, 50, 2000))):
                cpu = draw.randrange(cpus)
                offset = oracle.folio_alloc_swap(judge, cpu, order)
                if model.folio_alloc_swap(si, np.uint64(cpu), np.uint64(order)) != offset:
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
                model.swap_entry_range_free(si, np.uint64(offset), np.uint64(1 << order))
            else:
                cpu = draw.randrange(cpus)
                oracle.free_swap_slot(judge, cpu, offset)
                model.free_swap_slot(si, np.uint64(cpu), np.uint64(offset))
        if state(si) != judge.state():
            return False
    return True


def agrees_everywhere(model):
    return (
        agrees(model, 380, 1, (0, 2, 4), seed=1)
        and agrees(model, 1030, 1, (0, 2, 4), seed=1)
        and agrees(model, 2048, 2, (4, 0, 3, 5), seed=2)
        and agrees(model, 1536, 3, (0, 2, 6), seed=7, caches=False)
        and agrees(model, 3000, 3, (2, 3, 4), seed=4, caches=False)
        and agrees(model, 34 * 512, 1, (9, 4, 8), seed=5)
        and agrees(model, 2048, 2, (0,), seed=6, rotational=True)
    )


def test_the_model_itself_agrees():
    assert agrees_everywhere(load())


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(mutation):
    mutant = load(*MUTATIONS[mutation])
    try:
        caught = not agrees_everywhere(mutant)
    except (AssertionError, IndexError):
        caught = True
    assert caught
