"""data/threads/damon.csv is whole, and consistent with itself."""

import math
from fractions import Fraction

import pandas as pd
import pytest

from lorelab.damon import figures
from lorelab.judging import threads

ROWS = threads.figures("damon")


FULL = ["orig", "rec", "thp", "ethp", "prcl"]


def test_all_312_cells_are_there_once():
    assert len(figures.cells()) == 312
    expected = {"runtime": FULL, "memused.avg": FULL, "rss.avg": ["orig", "prcl"]}
    for metric, configurations in expected.items():
        table = figures.table(metric)
        assert list(table.columns) == configurations
        assert len(table) == 26
        assert table.index[-1] == "total"
        assert not table.isna().any(axis=None)
        assert list(table.index) == list(figures.table("runtime").index)


def test_each_cell_stands_where_its_table_stands():
    line = figures.cells()["place"].str.removeprefix("line ").astype(int)
    for metric, first in (("runtime", 176), ("memused.avg", 205), ("rss.avg", 281)):
        here = figures.cells()["quantity"] == metric
        assert sorted(set(line[here])) == list(range(first, first + 26))
        assert (line[here & (figures.cells()["workload"] == "total")] == first + 25).all()


def test_ids_units_and_percentages_fit_their_cells():
    for id, cell in figures.cells().iterrows():
        metric = cell["quantity"].removesuffix(".avg")
        workload = cell["workload"].replace("/", "-")
        assert id == f"{metric}-{workload}-{cell['configuration']}"
        assert cell["unit"] == figures.METRICS[cell["quantity"]]
        assert math.isnan(cell["percent"]) == (cell["configuration"] == "orig")


def test_memory_is_a_mean_of_five_whole_numbers():
    """So no digit of it is hidden, and its totals can be told to the last one."""
    values = figures.cells().query("unit == 'KiB'")["value"]
    assert ((5 * values).round(6) % 1 == 0).all()


def test_other_figures_are_in_the_order_of_the_message():
    lines = ROWS["place"].str.removeprefix("line ").astype(int)
    assert lines.is_monotonic_increasing
    assert ROWS.index.is_unique
    assert (ROWS["seen"] == "thread file").all()


def exact(metric: str) -> pd.DataFrame:
    """The table as fractions, so that this arithmetic shares no rounding with the library's."""
    return figures.table(metric).map(lambda value: Fraction(f"{value:.3f}"))


@pytest.mark.parametrize("metric", figures.METRICS)
def test_percentages_recompute_within_rounding(metric):
    table, printed = exact(metric), figures.table(metric, "percent")
    cut = Fraction(5, 10_000) if metric == "runtime" else Fraction(0)
    off = []
    for name in printed.columns:
        for workload, base in table["orig"].items():
            low = 100 * ((table.loc[workload, name] - cut) / (base + cut) - 1)
            high = 100 * ((table.loc[workload, name] + cut) / (base - cut) - 1)
            stated = Fraction(f"{printed.loc[workload, name]:.2f}")
            half = Fraction(5, 1000)
            if not low - half <= stated <= high + half:
                off.append((workload, name))
    assert off == ([("splash2x/radix", "thp")] if metric == "memused.avg" else [])


def test_totals_are_near_their_rows_and_mostly_not_on_them():
    near = {"runtime": Fraction(2, 100), "memused.avg": 250, "rss.avg": 250}
    on = 0
    for metric in figures.METRICS:
        table = exact(metric)
        gaps = abs(table.loc["total"] - table.drop(index="total").sum())
        assert (gaps <= near[metric]).all()
        on += int((gaps <= (Fraction(125, 10_000) if metric == "runtime" else 0)).sum())
    found = figures.totals()
    gap = (found["printed"] - found["exact"]).abs()
    assert int((gap <= found["slack"] + 0.0005).sum()) == on


def test_awk_keeps_integers_and_six_digits():
    assert figures.awk(39394400.0 + 46839.0) == 39441239.0
    assert figures.awk(39441239.4) == 39441200.0
    assert figures.awk(1071.2345) == 1071.23


def test_a_total_goes_through_awk_one_addition_at_a_time():
    """The largest total, worked by hand from the row before its two whole numbers."""
    rows = figures.workloads("memused.avg")["orig"]
    before = figures.printed_sum(rows[:-2])
    assert before == 39394400.0
    assert before + rows.iloc[-2] + rows.iloc[-1] == 40108199.0


def test_reachable_sums_hold_the_plain_one():
    values = figures.workloads("runtime")["rec"]
    found = figures.reachable_sums(values)
    assert figures.printed_sum(values) in found
    assert max(found) - min(found) <= 2 * figures.HALF * len(values) + 0.01 * len(values)


def test_the_spread_has_every_workload_of_every_table():
    table = figures.spread(("runtime", "memused.avg"))
    assert len(table) == 2 * 4 * len(figures.workloads("runtime"))
    one = table.set_index(["metric", "configuration", "workload"])["overhead"]
    cells = figures.workloads("runtime").loc["parsec3/swaptions"]
    exact = 100 * (cells["prcl"] / cells["orig"] - 1)
    assert one["runtime", "prcl", "parsec3/swaptions"] == round(exact, 3)


def test_the_unweighted_mean_is_the_root_of_the_product():
    rows = figures.workloads("runtime")
    product = math.prod(Fraction(v) / Fraction(o) for v, o in rows[["prcl", "orig"]].to_numpy())
    root = float(product) ** (1 / len(rows))
    assert figures.unweighted("runtime")["prcl"] == pytest.approx(100 * (root - 1))
    assert "orig" not in figures.unweighted("runtime")


def test_percentages_are_those_of_the_cells():
    found = figures.percentages()
    assert len(found) == (figures.cells()["configuration"] != "orig").sum()
    for id, row in found.iloc[::40].iterrows():
        cell = ROWS.loc[id]
        same = (ROWS["quantity"] == cell["quantity"]) & (ROWS["workload"] == cell["workload"])
        orig = ROWS[same & (ROWS["configuration"] == "orig")]["value"].iloc[0]
        exact = 100 * (Fraction(cell["value"]) / Fraction(orig) - 1)
        assert row["recomputed"] == pytest.approx(float(exact))
        assert row["agrees"] == (abs(row["printed"] - float(exact)) <= 0.005 + row["slack"] + 1e-9)
