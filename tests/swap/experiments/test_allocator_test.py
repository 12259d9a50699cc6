"""swap/allocator-test: views of a run."""

import pytest

from lorelab.swap.experiments import allocator_test
from lorelab.swap.params import AllocatorTest, Variant

SHORT = AllocatorTest(large_swapin=False, iterations=3)


def test_iterations_are_rows_and_changes_are_made():
    wide = allocator_test.by_iteration(SHORT, options="-a", variant=Variant.V6_10)
    assert wide.index.tolist() == [1, 2, 3]
    # Chris Li's run without his series (row chris-without-a of data/threads/swap.csv).
    assert wide["swpout"].tolist() == [32, 0, 0]
    assert wide["swpout_fallback"].tolist() == [192, 231, 227]


def test_rates_are_shares_of_all_folios_of_a_run():
    rates = allocator_test.fallback_rates(SHORT, {"6.10": {"variant": Variant.V6_10}, "6.12": {}})
    assert list(rates.index) == ["6.10", "6.12"]
    assert list(rates.columns) == list(allocator_test.OPTIONS)
    split, whole = 192 + 231 + 227, 32
    assert rates.loc["6.10", "-a"] == pytest.approx(100 * split / (split + whole))
    assert rates.loc["6.12", "-a"] == 0
