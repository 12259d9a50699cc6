"""Reclaim of partly mapped folios: the model against a plain one, conservation, and mutations."""

from pathlib import Path
from types import ModuleType

import numpy as np
import oracle_vmscan
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.swap import swapout, vmscan
from lorelab.swap.model import swapon
from lorelab.swap.params import ForceSplit, Swapout, Variant
from lorelab.swap.usemem import UNITS

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
        "memcg.left[folio] = memcg.mapped",
        "memcg.left[folio] = 1 << memcg.order",
    ),
}


def run(module, folios, order, mapped, splits_first, requests):
    """The same as `oracle_vmscan.run`, by the model's functions in `module`."""
    si = swapon(1024 + (2 * folios << order), Variant.V6_12)
    totals, plug = np.zeros(len(UNITS), np.int64), np.zeros((2, 1), np.int64)
    memcg = module.cgroup(folios, order, mapped, splits_first, True, True)
    for _ in range(requests):
        if not module.memory_reclaim(si, memcg, (folios << order) // requests, plug, totals):
            break
    found = dict(zip(UNITS, totals.tolist(), strict=True))
    found["shrinker_splits"] = int(memcg.state[module.SHRINKER_SPLITS])
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


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_cgroup_agrees(data):
    order = data.draw(st.sampled_from((2, 3, 4, 6)))
    folios = data.draw(st.integers(1, 300))
    requests = data.draw(st.sampled_from([n for n in range(1, folios + 1) if folios % n == 0]))
    mapped = data.draw(st.integers(1, (1 << order) - 1))
    case = (folios, order, mapped, data.draw(st.booleans()), requests)
    assert run(vmscan, *case) == oracle_vmscan.run(*case)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from((32, 96, 512)),
    st.integers(1, 15),
    st.sampled_from(list(ForceSplit)),
    st.sampled_from(("elsewhere", "own")),
    st.sampled_from((1, 2, 8)),
)
def test_every_folio_goes_out_once(folios, dropped, force_split, reclaimer, requests):
    params = Swapout(
        folios=folios,
        dropped=dropped,
        force_split=force_split,
        reclaimer=reclaimer,
        requests=requests,
    )
    found = swapout.count(params)
    whole, mapped = folios - found["splits"], 16 - dropped
    on_the_way = found["splits"] - found["shrinker_splits"]
    assert whole == 0 or force_split == ForceSplit.NONE
    assert on_the_way == 0 or force_split != ForceSplit.NONE
    assert found["swapped"] == 16 * whole + mapped * found["splits"]
    assert found["bios"] == whole + mapped * found["splits"]
    # A page without a mapping gets a slot where reclaim itself has split, and nowhere else.
    assert found["slot_allocations"] == found["bios"] + dropped * on_the_way
    # An entry of a split folio is invalidated twice: for the split, and to go out.
    assert found["invalidations"] == mapped * (folios + found["splits"])


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutation_is_caught(mutation):
    old, new = MUTATIONS[mutation]
    text = Path(vmscan.__file__).read_text()
    compiled = "from lorelab.swap.clusters import Swap, njit, outline\n"
    for before in (old, compiled):
        assert text.count(before) == 1, f"vmscan.py has {before!r} {text.count(before)} times"
    plain = "Swap = object\nnjit = outline = lambda function: function\n"
    mutant = ModuleType("mutant_vmscan")
    exec(text.replace(old, new).replace(compiled, plain), mutant.__dict__)
    cases = (case for case in CASES if case[0] < 512)
    assert any(run(mutant, *case) != oracle_vmscan.run(*case) for case in cases)
