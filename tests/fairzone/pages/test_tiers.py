"""What the recorded runs with two tiers say of their zones."""

import pandas as pd

from lorelab.fairzone.pages import tiers
from lorelab.fairzone.params import Tiers


def test_a_zones_pages_are_those_of_its_counters_and_the_oldest_part_is_told_from_a_stray(
    monkeypatch,
):
    counted = {"fill_pgalloc_dma": 7, "read_pgalloc_dma": 1, "read_pgalloc_dma32": 3}
    counted |= {"read_cached_00": 1, "read_cached_01": 0, "read_cached_02": 7}
    wide = pd.DataFrame([counted | {"read_cached_03": 12}])
    runs = [("7.3.4", Tiers(mglru=True), wide)]
    monkeypatch.setattr(tiers, "measured", lambda: runs)
    found = tiers.dma().loc[("MGLRU", "7.3.4")].squeeze()
    assert found.to_dict() == {"filled": 7, "read": 1, "of node": 25, "oldest": 7, "cached": 20}
