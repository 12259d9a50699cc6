"""swap/swapout: what a folio costs on its path, and that every folio goes out once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.params import parse
from lorelab.swap.experiments import swapout
from lorelab.swap.params import ForceSplit, Swapout

FOLIOS = {
    # invalidations, flushes, splits, slots, pages written: of one 64 KiB folio
    "whole": ({}, (16, 1, 0, 1, 16)),
    "split": ({"force_split": "not-pmd-mapped"}, (32, 17, 1, 16, 16)),
    "split, no batch": (
        {"force_split": "not-pmd-mapped", "split_batching": False},
        (32, 32, 1, 16, 16),
    ),
    "whole, by itself": ({"reclaimer": "own"}, (16, 16, 0, 1, 16)),
    "split, by itself": (
        {"force_split": "not-pmd-mapped", "reclaimer": "own"},
        (32, 32, 1, 16, 16),
    ),
    "madvise splits": (
        {"dropped": 15, "force_split": "none", "reclaimer": "madvise"},
        (2, 2, 1, 1, 1),
    ),
    "4 KiB pages": ({"folio_order": 0, "folios": 512}, (1, 1, 0, 1, 1)),
    "2 MiB": ({"folio_order": 9, "folios": 8}, (513, 2, 0, 1, 512)),
    "2 MiB, split": (
        {"folio_order": 9, "folios": 8, "force_split": "all"},
        (1 + 512, 1 + 512, 1, 512, 512),
    ),
    "2 MiB, PMD mapped": (
        {"folio_order": 9, "folios": 8, "force_split": "not-pmd-mapped"},
        (513, 2, 0, 1, 512),
    ),
}


@pytest.mark.parametrize("path", FOLIOS)
def test_a_folio_costs_what_its_path_says(path):
    changes, expected = FOLIOS[path]
    params = parse(Swapout, changes)
    found = swapout.count(params)
    names = ("invalidations", "flushes", "splits", "slot_allocations", "swapped")
    assert tuple(found[name] / params.folios for name in names) == expected
    assert found["bios"] == found["slot_allocations"]
    assert found["fallbacks"] == found["shrinker_splits"] == 0


@settings(max_examples=30)
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


def test_a_table_has_each_counter_with_its_unit():
    """32 folios of 64 KiB, whole: a slot allocation and a bio each, 16 pages each."""
    table = swapout.simulate(Swapout(folios=32))
    assert set(table["step"]) == {0} and set(table["source"]) == {"model"}
    found = {row.counter: (row.value, row.unit) for row in table.itertuples()}
    assert found == {
        "swapped": (512, "pages"),
        "invalidations": (512, "entries"),
        "flushes": (32, "flushes"),
        "splits": (0, "folios"),
        "slot_allocations": (32, "calls"),
        "fallbacks": (0, "folios"),
        "bios": (32, "bios"),
        "shrinker_splits": (0, "folios"),
    }
