"""Runs of the model side by side: rows are what was run, and cells what `simulate` counts."""

import pytest

from lorelab.swap.experiments.mixed import STEALS
from lorelab.swap.model.reclaim import UNITS
from lorelab.swap.pages import simulated
from lorelab.swap.params import AllocatorTest, Mixed, Usemem, Variant

SMALL = Mixed(device_mib=16, turnovers=3, steps=3, cpus=3, tasks=5, migration=0.1)


SHORT = AllocatorTest(large_swapin=False, iterations=3)


def test_iterations_are_rows_and_changes_are_made():
    wide = simulated.by_iteration(SHORT, options="-a", variant=Variant.V6_10)
    assert wide.index.tolist() == [1, 2, 3]
    # Chris Li's run without his series (row chris-without-a of data/threads/swap.csv).
    assert wide["swpout"].tolist() == [32, 0, 0]
    assert wide["swpout_fallback"].tolist() == [192, 231, 227]


def test_rates_are_shares_of_all_folios_of_a_run():
    rates = simulated.fallback_rates(SHORT, {"6.10": {"variant": Variant.V6_10}, "6.12": {}})
    assert list(rates.index) == ["6.10", "6.12"]
    assert list(rates.columns) == list(simulated.OPTIONS)
    split, whole = 192 + 231 + 227, 32
    assert rates.loc["6.10", "-a"] == pytest.approx(100 * split / (split + whole))
    assert rates.loc["6.12", "-a"] == 0


def test_a_grid_has_a_column_a_parameter():
    table = simulated.grid(
        SMALL.model_copy(update={"turnovers": 0}), cpus=[1, 2], variant=[Variant.V1, Variant.V2]
    )
    assert table.groupby(["cpus", "variant"]).ngroups == 4
    assert list(table.columns[-1:]) == ["cpus"]


def test_late_leaves_the_filling_out():
    table = simulated.grid(SMALL, variant=[Variant.V3, Variant.V6_12])
    found = simulated.late(table, ["scanned", "failed"], ["variant"], after=2)
    assert list(found.columns) == ["scanned", "failed"] and list(found.index) == ["v3", "v6.12"]
    by_hand = table[(table.counter == "scanned") & (table.step > 2) & (table.variant == "v3")]
    assert found.loc["v3", "scanned"] == pytest.approx(by_hand["value"].mean())


def test_runs_are_longer_where_each_cpu_has_a_cluster():
    params = SMALL.model_copy(update={"orders": "4:1", "paged": 0, "migration": 0})
    length = simulated.run_lengths(params, [Variant.V1, Variant.V2], tasks=[1, 4])
    assert list(length.columns) == [1, 4]
    assert length.loc[(1, "v2"), 4] > length.loc[(1, "v1"), 4]


def test_orders_of_stealing_differ_where_order_0_steals():
    given = Mixed(device_mib=16, orders="0:1,4:1", turnovers=4, steps=4, fill=0.9)
    found = simulated.by_stealing(given, range(1, 2))
    assert found.index.tolist() == list(STEALS)
    assert (found.loc["before free"] != found.loc["last"]).any()
    last = simulated.grid(given, variant=[Variant.V7_2])
    kept = simulated.late(last, ["fallback_order4", "scanned"], ["variant"], after=2).iloc[0]
    assert found.loc["last"].tolist() == kept.tolist()


def test_each_path_is_told_for_64_kib():
    small = Usemem(processes=2, cpus=2, mib_each=8, memcg_mib=8, swap_mib=32)
    table = simulated.per_64k(small, simulated.USEMEM_PATHS)
    assert list(table.index) == list(simulated.USEMEM_PATHS) and list(table.columns) == list(UNITS)
    assert (table["swapped"] == 16).all()
    assert table["invalidations"].tolist()[:4] == [16, 32, 32, 16]
    assert table["flushes"].tolist()[:4] == [16, 32, 17, 1]
    assert table.loc["2M whole", "invalidations"] == 513 / 32
