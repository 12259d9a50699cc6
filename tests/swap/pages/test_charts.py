"""The pictures of the swap chapter say what their tables say, and stay small enough for a page."""

import numpy as np
import pandas as pd
import vl_convert

from lorelab import counters
from lorelab.showing.charts import render
from lorelab.swap.pages import charts, simulated, views
from lorelab.swap.params import Mixed, Variant
from lorelab.swap.thread import cost

SMALL = Mixed(device_mib=16, turnovers=1, steps=1)


def drawn(chart) -> list[str]:
    """What is drawn, as tags of the SVG; fails when Vega warns of the chart."""
    spec = chart.to_dict()
    assert len(render(spec)["text/html"]) < 1_000_000
    return vl_convert.vegalite_to_svg(spec).split("<")


def rows_of(chart) -> list[dict]:
    spec = chart.to_dict()
    return [row for rows in spec["datasets"].values() for row in rows]


def test_the_cluster_map_draws_one_rectangle_a_run():
    cells = views.maps(SMALL, [Variant.V6_10, Variant.V6_12], [0, 1])
    chart = charts.cluster_map(cells, row="when", column="variant")
    runs = (cells["holds"] != "free").sum()
    assert len(rows_of(chart)) == runs
    assert sum(tag.startswith("path") and 'fill="#' in tag for tag in drawn(chart)) >= runs


def allocator_test(source: str, shift: int = 0) -> pd.DataFrame:
    steps = np.arange(5)
    columns = {"swpout": ("folios", 3 * steps + shift), "swpout_fallback": ("folios", 5 + steps)}
    return counters.table("swap/allocator-test", "v6.12", source, columns)


def test_fallback_is_a_share_of_folios():
    both = pd.concat([allocator_test("model"), allocator_test("kernel", 1)]).assign(options="-a")
    rates = charts.fallback_rate(both)
    assert rates["value"].tolist()[:3] == [100, 100 * 6 / 9, 100 * 7 / 13]
    assert len(rates) == 10
    assert drawn(charts.fallback(both)) and drawn(charts.fallback(both, facet="options"))


def test_releases_have_a_line_each():
    both = [allocator_test("kernel").assign(variant=name) for name in ("6.12.117", "7.3.4")]
    shown = charts.releases(pd.concat(both))
    assert drawn(shown) and {row["variant"] for row in rows_of(shown)} == {"6.12.117", "7.3.4"}


def test_invalidations_are_shared_out_by_purpose():
    """A 64 KiB folio split up to 6.7: 16 entries and 16 waits to split it, as many to write it."""
    totals = {
        "swapped": 32,
        "splits": 2,
        "slot_allocations": 32,
        "invalidations": 64,
        "flushes": 64,
    }
    columns = {name: ("", [value]) for name, value in totals.items()}
    table = counters.table("swap/usemem", "v6.6", "model", columns).assign(path="split")
    chart = charts.invalidations(table)
    assert [row["value"] for row in rows_of(chart)] == [16, 16, 16, 16]
    assert drawn(chart)


def test_scan_length_takes_the_last_step_of_each_size():
    table = simulated.grid(SMALL, device_mib=[16, 32], variant=[Variant.V3, Variant.V6_12])
    chart = charts.scan_length(table, 4)
    last = table[(table.counter == "scanned_order4") & (table.step == 2)]
    assert [row["value"] for row in rows_of(chart)] == last["value"].tolist()
    assert len(last) == 4
    assert drawn(chart)


def test_capacity_is_in_mib_and_names_who_may_not_steal():
    values = {"cpus": [1, 4], "orders": ["0:1,4:1"], "stealing": [True, False]}
    table = simulated.grid(SMALL, simulated.until_full, variant=[Variant.V6_10], **values)
    chart = charts.capacity(table)
    free = table[table.counter == "free_at_first_failure"]["value"]
    assert [row["mib"] for row in rows_of(chart)] == (free / 256).tolist()
    assert {row["variant"] for row in rows_of(chart)} == {"v6.10", "v6.10, no stealing"}
    assert drawn(chart)


def test_a_histogram_is_in_shares_of_its_order():
    found = [
        counters.histogram("swap/probed", "v6.12", "model", "read_0", "calls", [0, 3, 0, 1]),
        counters.histogram("swap/probed", "v6.12", "model", "read_4", "calls", [5, 0, 0, 0]),
    ]
    assert found[0][["step", "value"]].to_numpy().tolist() == [[1, 3], [4, 1]]
    chart = charts.histogram(pd.concat(found), "read", "slots", "")
    shares = {(row["order"], row["bucket"]): row["share"] for row in rows_of(chart)}
    assert shares == {("order 0", "1"): 75, ("order 0", "4 to 7"): 25, ("order 4", "0"): 100}
    assert drawn(chart)


def test_purposes_of_invalidations_add_up():
    counts = pd.DataFrame(
        {"aged": [16.0, 16.0], "invalidations": [16.0, 32.0], "splits": [0.0, 1.0]},
        index=["whole", "split"],
    )
    chart = charts.by_purpose(counts)
    drawn_of = {(row["path"], row["for"]): row["n"] for row in rows_of(chart)}
    assert drawn_of == {
        ("whole", "aging"): 16,
        ("whole", "split"): 0,
        ("whole", "unmapping"): 16,
        ("split", "aging"): 16,
        ("split", "split"): 16,
        ("split", "unmapping"): 16,
    }
    assert drawn(chart)


def test_fits_have_a_panel_a_table_and_reading():
    chart = charts.fits(cost.nearest())
    assert len(rows_of(chart)) == 48
    assert drawn(chart)
