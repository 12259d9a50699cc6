"""Runs that the model made, judged as a kernel's; and ones that are off by more than 5 %."""

import numpy as np
import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.fairzone.agree.reread import (
    AHEAD,
    BUSY,
    agree,
    allocated,
    busy,
    node_of,
    played,
    rates,
)
from lorelab.fairzone.experiments import reread
from lorelab.fairzone.params import Reread
from lorelab.fairzone.workload.reread import NAME, PARTS, pages_of, plan
from lorelab.lab.records import Record

PHASES = ["write", "read"]
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
    return Record(table(NAME, "baseline", "kernel", found), None)


@pytest.fixture(scope="module")
def run() -> pd.DataFrame:
    zones = guest(pd.DataFrame(columns=["counter", "unit", "value"]), 0).counters
    return reread.play(PARAMS, node_of(PARAMS, zones, 1))


def off(counters: pd.DataFrame, pattern: str, factor: float) -> pd.DataFrame:
    changed = counters.copy()
    changed["value"] = changed["value"].astype(float)
    changed.loc[changed["counter"].str.fullmatch(pattern), "value"] *= factor
    return changed


def test_the_models_own_run_passes(run):
    found = agree(PARAMS, guest(run, 0.004))
    assert found.verdict == "passed", found.table.to_string()


@pytest.mark.parametrize("pattern", ["read_passes", "read_resets", "write_allocated_0_dma32"])
@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_a_run_that_is_off_fails(run, pattern, factor):
    assert agree(PARAMS, guest(off(run, pattern, factor), 0.004)).verdict == "failed"


def test_a_run_that_scatters_is_undecided(run):
    assert agree(PARAMS, guest(run, 0.3)).verdict != "passed"


def test_parts_add_up(run):
    wide = rates(PARAMS, run, "model", PHASES).pivot_table(
        index="step", columns="counter", values="value"
    )
    for phase in ("write", "read"):
        parts = wide[[f"{phase}_part_{zone}" for zone in reread.ZONES]]
        assert np.allclose(parts.sum(axis=1), 1)


def test_what_is_cached_fits_into_memory(run):
    said = run.set_index("counter")["value"]
    cached = said[[f"read_cached_{part:02}" for part in range(PARTS)]].sum()
    assert 0 < cached < sum(zone["free"] for zone in ZONES.values())
    assert said["write_cached_00"] == 0
    assert said["read_hits"] <= cached


def test_what_is_judged_by_hand():
    """Parts and passes are of the allocations, hits of the pages read; fewer than none are none."""
    pages = pages_of(PARAMS)
    found = {"read_hits": ("pages", [pages // 4, -3])}
    for phase in ("write", "read"):
        for zone, each in (("dma", [0, 10]), ("dma32", [30, 10]), ("normal", [10, 20])):
            found[f"{phase}_allocated_0_{zone}"] = ("pages", each)
        found[f"{phase}_passes"] = ("passes", [80, 60])
    judged = rates(PARAMS, table(NAME, "baseline", "kernel", found), "kernel", PHASES)
    wide = judged.pivot_table(index="step", columns="counter", values="value")
    assert wide["read_hits"].to_list() == [pages // 4 / pages, 0]
    assert wide["write_part_dma32"].to_list() == [0.75, 0.25]
    assert wide["read_part_normal"].to_list() == [0.25, 0.5]
    assert wide["read_passes"].to_list() == [2, 1.5]
    assert "write_hits" not in wide
    assert set(judged["source"]) == {"kernel"}


@pytest.mark.parametrize("workload", ["write-read", "two-files"])
def test_a_phase_is_judged_if_it_takes_pages_for_a_tenth_of_its_data(workload):
    params = Reread(mode="baseline", workload=workload)
    phases = [(name, much) for name, _, _, much in plan(params, pages_of(params))]
    for least in (0, 1):
        found = {
            f"{name}_allocated_0_dma32": ("pages", [int(BUSY * much) + least])
            for name, much in phases
        }
        counters = table(NAME, "baseline", "kernel", found)
        assert busy(params, counters) == [name for name, _ in phases] * least


def test_pages_are_demoted_as_6_12_decides_it():
    """Once before a node's lists are gone over, whatever the mode says of the policy."""
    for mode in ("baseline", "fixed", "v1"):
        counters = guest(pd.DataFrame(columns=["counter", "unit", "value"]), 0).counters
        node = node_of(PARAMS.model_copy(update={"mode": mode}), counters, 1)
        assert (node.info["node_lru"][0], node.info["decides_first"][0]) == (1, 1)


def test_hits_within_two_readahead_windows_are_none():
    counters = table(NAME, "baseline", "kernel", {"read_hits": ("pages", [64, 65, -64])})
    counters = pd.concat([counters, counters.assign(counter="write_hits")])
    shares = rates(PARAMS, counters, "kernel", [])["value"]
    assert AHEAD == 64 and shares.tolist() == [0, 65 / pages_of(PARAMS), 0]


def test_of_a_phase_that_finds_its_data_only_the_hits_are_judged():
    """The second file of two fits beside a part of the first, and is found from then on."""
    params = PARAMS.model_copy(update={"workload": "two-files", "data_percent": 140})
    zones = guest(pd.DataFrame(columns=["counter", "unit", "value"]), 0).counters
    counters = reread.play(params, node_of(params, zones, 1))
    assert busy(params, counters) == ["file1_read1", "file2_read1", "file2_read2", "file2_read3"]
    judged = agree(params, guest(counters, 0.004))
    assert judged.verdict == "passed", judged.table.to_string()
    hits = judged.table.set_index("counter")["model"].filter(like="_hits")
    assert len(hits) == 10 and 0.2 < hits["file2_read3_hits"] < 0.8
    few = off(counters, "file2_read3_hits", 0.9)
    assert agree(params, guest(few, 0.004)).verdict == "failed"


def test_what_fio_takes_is_told_and_given_back():
    """Own pages are allocated beside the data's, and are free again at the end.

    With less room for the cache fewer pages are evicted, and as many fewer slabs are made anew.
    """
    params = PARAMS.model_copy(update={"program": "fio"})
    zones = guest(pd.DataFrame(columns=["counter", "unit", "value"]), 0).counters
    alone = reread.play(params, node_of(params, zones, 1))
    told = reread.play(params, node_of(params, zones, 1), {"write": 3000, "read": 2000})
    more = allocated(told) - allocated(alone)
    assert abs(more["write"] - 3000) < 100 and abs(more["read"] - 2000) < 100
    counters = guest(told, 0).counters
    assert (allocated(played(params, counters, 1)) - allocated(told)).abs().max() < 100
