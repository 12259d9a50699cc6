"""Reclaim of partly mapped folios: the model against a plain one, conservation, and mutations."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.swap.model import vmscan
from lorelab.swap.model.reclaim import COUNTS, PLUG, UNITS, Folio
from lorelab.swap.model.state import swapon
from lorelab.swap.params import Variant
from tests.swap.model import oracle_vmscan

NAMES = ("swapped", "splits", "slot_allocations", "shrinker_splits")

MUTATIONS = {
    "file pages are left alone": ("MAX_SWAPPINESS = 60, 200", "MAX_SWAPPINESS = 200, 200"),
    "writing costs nothing": ("nr_io * SWAP_CLUSTER_MAX + nr_rotated", "nr_rotated"),
    "32 at least": ("max(nr_pages, SWAP_CLUSTER_MAX)", "nr_pages"),
    "a quarter at a time": ("(nr_to_reclaim - nr_reclaimed) // 4", "nr_to_reclaim - nr_reclaimed"),
    "down to priority 0": ("range(DEF_PRIORITY, -1, -1)", "range(DEF_PRIORITY, 0, -1)"),
    "from priority 12": ("DEF_PRIORITY = 12", "DEF_PRIORITY = 3"),
    "priority 0 takes all": ("if priority == 0:", "if priority < 0:"),
    "tails are not reclaimed": (
        "reclaimed += mapped if split else 1 << order",
        "reclaimed += 1 << order",
    ),
    "a scan stops at its target": ("while nr > 0 and reclaimed < nr_to_reclaim", "while nr > 0"),
    "two objects a seek": ("DEFAULT_SEEKS = 2", "DEFAULT_SEEKS = 4"),
    "batches of 128": ("SHRINK_BATCH = 128", "SHRINK_BATCH = 64"),
    "all of a short queue": ("or total_scan >= freeable", "or total_scan > freeable"),
    "what was put off counts": ("(nr >> priority) + delta", "delta"),
    "what was put off stays": ("max(nr + delta - scanned, 0)", "max(delta - scanned, 0)"),
    "the shrinker frees what nothing maps": (
        "memcg.left[place] = folio.mapped",
        "memcg.left[place] = 1 << folio.order",
    ),
}


def run(module, folios, order, mapped, splits_first, requests):
    """The same as `oracle_vmscan.run`, by the model's functions in `module`."""
    si = swapon(1024 + (2 * folios << order), Variant.V6_12)
    totals, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    folio = Folio(order, mapped, eager_split=splits_first, batched=True)
    memcg = module.cgroup(folios, folio, elsewhere=True)
    for _ in range(requests):
        if not module.memory_reclaim(si, memcg, (folios << order) // requests, plug, totals):
            break
    found = {name: int(totals[name][0]) for name in UNITS}
    found["shrinker_splits"] = int(memcg.state["shrinker_splits"][0])
    return {name: found[name] for name in NAMES}


CASES = [
    (folios, order, mapped, splits_first, requests)
    for folios, order, mapped in ((32, 4, 1), (256, 4, 1), (256, 4, 8), (512, 3, 7), (8, 9, 300))
    for splits_first in (False, True)
    for requests in (1, 4, folios)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cases_agree(case):
    assert run(vmscan, *case) == oracle_vmscan.run(*case)


@settings(max_examples=150)
@given(st.data())
def test_any_cgroup_agrees(data):
    order = data.draw(st.sampled_from((2, 3, 4, 6)))
    folios = data.draw(st.integers(1, 300))
    requests = data.draw(st.sampled_from([n for n in range(1, folios + 1) if folios % n == 0]))
    mapped = data.draw(st.integers(1, (1 << order) - 1))
    case = (folios, order, mapped, data.draw(st.booleans()), requests)
    assert run(vmscan, *case) == oracle_vmscan.run(*case)


@pytest.mark.parametrize("pages", [1, 2, 7])
def test_each_page_written_costs_as_much_as_32_that_are_put_back(pages):
    """lru_note_cost(), of pages that a shrinker has split before; below a quarter of the list."""
    folio = Folio(4, 16, eager_split=False, batched=True)
    si, memcg = swapon(4096, Variant.V6_12), vmscan.cgroup(128, folio, elsewhere=True)
    memcg.large[:] = False
    totals, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    assert vmscan.shrink_inactive_list(si, memcg, pages, plug, totals) == pages
    assert memcg.state["anon_cost"][0] == 32 * pages
    assert memcg.state["lru_size"][0] == 128 * 16 - pages


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(mutation):
    old, new = MUTATIONS[mutation]
    text = Path(vmscan.__file__).read_text()
    compiled = "from lorelab.numerics import forceinline, outline\n"
    plain = "forceinline = outline = lambda function: function\n"
    fields = ("np.zeros(1, STATE)", "np.zeros(1, STATE).view(np.recarray)")
    for before, after in ((old, new), (compiled, plain), fields):
        assert text.count(before) == 1, f"vmscan.py has {before!r} {text.count(before)} times"
        text = text.replace(before, after)
    mutant = ModuleType("mutant_vmscan")
    exec(text, mutant.__dict__)
    cases = (case for case in CASES if case[0] < 512)
    assert any(run(mutant, *case) != oracle_vmscan.run(*case) for case in cases)
