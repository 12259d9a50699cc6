"""What pages look at: the cells of a device's map."""

import pytest

from lorelab.numbers import U
from lorelab.swap.experiments import views
from lorelab.swap.model.state import SWAP_MAP_BAD, swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap
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
