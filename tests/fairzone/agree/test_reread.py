"""Runs that the model made, judged as a kernel's; and ones that are off by more than 5 %."""

import numpy as np
import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.fairzone.agree.reread import agree, node_of, rates
from lorelab.fairzone.experiments import reread
from lorelab.fairzone.params import Reread
from lorelab.lab.records import Record

PARAMS = Reread(mode="baseline", mib=384, dma32_mib=144, data_percent=120, repeats=6)
ZONES = {
    "dma": {"managed": 3976, "free": 3800, "min": 29, "low": 36, "high": 43, "reserve": 368},
    "dma32": {"managed": 32768, "free": 31000, "min": 241, "low": 301, "high": 361, "reserve": 240},
    "normal": {"managed": 61440, "free": 50000, "min": 452, "low": 565, "high": 678, "reserve": 0},
}


def guest(counters: pd.DataFrame, scatter: float) -> Record:
    """Six runs with these counters, each a little off, in a guest with these zones."""
    random = np.random.default_rng(1)
    repeats = PARAMS.repeats
    found: dict[str, tuple[str, object]] = {}
    for zone, said in ZONES.items():
        for what, pages in said.items():
            found[f"zone_0_{zone}_{what}"] = ("pages", [pages] * repeats)
        found[f"zone_0_{zone}_pcp_count"] = ("pages", [0] * repeats)
    for row in counters.itertuples():
        exact = row.counter.endswith("touched")
        off = 1 + (0 if exact else scatter) * random.uniform(-1, 1, repeats)
        found[row.counter] = (row.unit, np.round(row.value * off))
    return Record(table(reread.NAME, "baseline", "kernel", found), None)


@pytest.fixture(scope="module")
def played() -> pd.DataFrame:
    zones = guest(pd.DataFrame(columns=["counter", "unit", "value"]), 0).counters
    return reread.play(PARAMS, node_of(PARAMS, zones, 1))


def off(counters: pd.DataFrame, pattern: str, factor: float) -> pd.DataFrame:
    changed = counters.copy()
    changed["value"] = changed["value"].astype(float)
    changed.loc[changed["counter"].str.fullmatch(pattern), "value"] *= factor
    return changed


def test_the_models_own_run_passes(played):
    found = agree(PARAMS, guest(played, 0.004))
    assert found.verdict == "passed", found.table.to_string()


@pytest.mark.parametrize("pattern", ["read_passes", "read_resets", "write_allocated_0_dma32"])
@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_a_run_that_is_off_fails(played, pattern, factor):
    assert agree(PARAMS, guest(off(played, pattern, factor), 0.004)).verdict == "failed"


def test_a_run_that_scatters_is_undecided(played):
    assert agree(PARAMS, guest(played, 0.3)).verdict != "passed"


def test_parts_add_up(played):
    wide = rates(PARAMS, played, "model").pivot_table(
        index="step", columns="counter", values="value"
    )
    for phase in ("write", "read"):
        parts = wide[[f"{phase}_part_{zone}" for zone in reread.ZONES]]
        assert np.allclose(parts.sum(axis=1), 1)


def test_what_is_cached_fits_into_memory(played):
    said = played.set_index("counter")["value"]
    cached = said[[f"read_cached_{part:02}" for part in range(reread.PARTS)]].sum()
    assert 0 < cached < sum(zone["free"] for zone in ZONES.values())
    assert said["write_cached_00"] == 0
    assert said["read_hits"] <= cached


def test_what_is_judged_by_hand():
    """Parts and passes are of the allocations, hits of the pages read; fewer than none are none."""
    pages = reread.pages_of(PARAMS)
    found = {"read_hits": ("pages", [pages // 4, -3])}
    for phase in ("write", "read"):
        for zone, each in (("dma", [0, 10]), ("dma32", [30, 10]), ("normal", [10, 20])):
            found[f"{phase}_allocated_0_{zone}"] = ("pages", each)
        found[f"{phase}_passes"] = ("passes", [80, 60])
    judged = rates(PARAMS, table(reread.NAME, "baseline", "kernel", found), "kernel")
    wide = judged.pivot_table(index="step", columns="counter", values="value")
    assert wide["read_hits"].to_list() == [pages // 4 / pages, 0]
    assert wide["write_part_dma32"].to_list() == [0.75, 0.25]
    assert wide["read_part_normal"].to_list() == [0.25, 0.5]
    assert wide["read_passes"].to_list() == [2, 1.5]
    assert "write_hits" not in wide
    assert set(judged["source"]) == {"kernel"}
