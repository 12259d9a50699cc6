"""What pages look at: the cells of a device's map."""

import pandas as pd
import pytest

from lorelab.numerics import U
from lorelab.swap.model.state import NONFULL, SWAP_MAP_BAD, swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap
from lorelab.swap.pages import views
from lorelab.swap.params import Mixed, Variant
from lorelab.swap.workload.load import folio_orders, run, start

SMALL = Mixed(device_mib=16, turnovers=1, steps=1)


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("cell", [1, 16, 512])
def test_cells_tile_the_device(variant, cell):
    si, load = start(SMALL.model_copy(update={"variant": variant}))
    run(si, load, U(2000), True)
    run(si, load, U(500), False)
    cells = views.cluster_map(si, folio_orders(load), cell)
    assert (cells.groupby("cluster")["slots"].sum() == 512).all()
    starts = cells.groupby("cluster")["slots"].cumsum() - cells["slots"]
    assert (starts == cells["slot"]).all()
    repeated = (
        cells[["cluster", "holds", "taken"]] == cells[["cluster", "holds", "taken"]].shift()
    ).all(axis=1)
    assert not repeated.any()
    if cell == 1:
        held = cells[cells["holds"].str.startswith("order")]["slots"].sum()
        assert held == load.totals[0]["held"]
        assert cells[cells["holds"] == "free"]["slots"].sum() == (si.swap_map == 0).sum()


def test_a_cell_shows_what_most_of_it_holds():
    si = swapon(4 * 512, Variant.V6_12, slot_cache=False)
    for order in (4, 0, 0, 4):
        assert folio_alloc_swap(si, U(0), U(order))
    cells = views.cluster_map(si)
    taken = cells[cells["holds"] != "free"].drop(columns="cluster")
    assert taken.to_numpy().tolist() == [
        [0, 16, "set aside", 25],
        [0, 32, "order 4", 100],
        [0, 16, "order 0", 25],
    ]


def test_what_v2_reserves_is_set_aside():
    si = swapon(4 * 512, Variant.V2)
    assert folio_alloc_swap(si, U(0), U(4))
    cells = views.cluster_map(si)
    assert cells[cells["holds"] == "set aside"]["slots"].tolist() == [16, 512 - 16]
    assert (si.swap_map == SWAP_MAP_BAD).sum() == 1 + 512 - 16


def test_a_device_is_filled_from_slot_to_slot():
    si = swapon(4 * 512, Variant.V6_12, slot_cache=False)
    assert views.fill(si, 4, folios=3) == [512, 528, 544]
    assert len(views.fill(si, 9)) == 2, "the header and order 4 have a cluster each"
    assert views.fill(si, 9) == []
    assert len(views.fill(si, 0)) == 4 * 512 - 1 - 3 * 16 - 2 * 512


def test_lists_are_walked_from_their_heads():
    si = swapon(4 * 512, Variant.V6_12, slot_cache=False)
    views.fill(si, 4, folios=1)
    found = views.lists(si).set_index("list")
    assert found["clusters"].to_dict() == {"free": "2 3", "nonfull[0]": "0", "nonfull[4]": "1"}
    assert found["slots"].to_dict() == {"free": "0 0", "nonfull[0]": "1", "nonfull[4]": "16"}
    assert views.members(si, int(NONFULL) + 4) == [1]


def test_clusters_of_several_orders_are_counted():
    cells = pd.DataFrame(
        [
            ("a", 0, "order 4", "late"),
            ("a", 0, "order 0", "late"),
            ("a", 1, "order 4", "late"),
            ("a", 1, "free", "late"),
            ("b", 0, "order 9", "late"),
            ("b", 0, "order 0", "early"),
        ],
        columns=["variant", "cluster", "holds", "when"],
    )
    assert views.mixing(cells, "late").to_dict() == {"a": 1, "b": 0}


def test_maps_are_of_each_variant_at_each_time():
    """64 folios of 64 KiB fill half of 4 clusters, whatever the allocator."""
    params = Mixed(device_mib=8, orders="4:1", fill=0.5, paged=0, cpus=1, tasks=1)
    found = views.maps(params, [Variant.V3, Variant.V6_12], [0, 1, 2])
    assert set(found["variant"]) == {"v3", "v6.12"}
    times = ["just filled", "after 1 turnover", "after 2 turnovers"]
    assert list(found["when"].unique()) == times
    for _, one in found.groupby(["variant", "when"]):
        assert one["slots"].sum() == 4 * 512
    held = found[(found["when"] == "just filled") & (found["holds"] == "order 4")]
    assert held.groupby("variant")["slots"].sum().to_dict() == {"v3": 1024, "v6.12": 1024}
