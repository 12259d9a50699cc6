"""What compiled code puts together is what the library does, and the null is what it says."""

import numpy as np
import pytest

from lorelab.damon.experiments.hot_range import simulate
from lorelab.damon.experiments.masim import compare_windows, monitored
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.pages import simulated
from lorelab.damon.params import HotRange, Masim, Variant
from lorelab.damon.workload import masim
from lorelab.damon.workload.hot_range import DRAWN, UNITS
from lorelab.damon.workload.setup import context
from lorelab.errors import BadInput
from lorelab.numerics import PAGE
from lorelab.params import parse

SAME = {"nr_regions": "regions", "checks": "checks", "rate_error": "error", "end": "seconds"}
REGIONS = [variant for variant in Variant if variant.traits.regions]


def by_the_library(params):
    """The same windows, of a context and a memory that Python has set up."""
    size, hot = params.mib << 20, params.hot_kib << 10
    lowest = masim.VDSO[0] - size - PAGE
    patterns, phases = np.zeros(2, PATTERN), np.zeros(2, PHASE)
    patterns["start"] = [
        lowest + masim.MALLOC_HEADER + (kib << 10)
        for kib in (params.hot_at_kib, params.then_at_kib)
    ]
    patterns["sz"], patterns["stride"], patterns["probability"] = hot, PAGE, 1
    phases["begin"], phases["end"], phases["total_probability"] = [0, 1], [1, 2], 1
    phases["time_ns"] = [params.windows // 2 * params.aggr_us * 1000, 10**15]
    pages = new_pages(
        patterns,
        phases,
        [(0, *masim.PROGRAM), (0, lowest, masim.VDSO[1]), (0, *masim.STACK)],
        masim.OWN,
        tlb=params.tlb,
        switch_us=params.switch_us,
        seed=params.seed,
        truth=True,
    )
    longer = Masim(workload="steady", **params.model_dump(include=set(shared())))
    seen = compare_windows(longer, pages, monitored(longer, context(longer, pages), pages))
    return seen.head(params.windows)


def shared():
    return HotRange.model_fields.keys() & Masim.model_fields.keys() - {"mib"}


@pytest.mark.parametrize("variant", REGIONS)
def test_windows_are_those_of_the_library(variant):
    params = HotRange(variant=variant, windows=30, seed=7, tlb=64, switch_us=3_000, hot_kib=8192)
    rows = simulated.hot_range(params).head(params.windows)
    theirs = by_the_library(params)
    assert len(theirs) == 30
    for name, other in SAME.items():
        assert rows[name].tolist() == theirs[other].tolist(), name
    assert rows["misplaced"].tolist() == theirs["misplaced"].tolist()


def test_the_null_is_the_share_of_memory_that_is_hot():
    said = simulate(HotRange(windows=10)).set_index(["counter", "step"])["value"]
    cold = said["rate_error_cold"].iloc[2:4]
    # Beside the program's memory its code, its stack and what the kernel maps: 1.4 MiB.
    assert cold.tolist() == pytest.approx([32 / 257.4] * 2, rel=1e-3)


def test_what_is_drawn_covers_the_memory_once():
    params = HotRange(windows=8, min_regions=700)
    rows = simulated.hot_range(params)
    drawn = rows[rows["kind"] == 1]
    for _, window in drawn.groupby("since"):
        assert window["low"].iloc[0] == 0 and window["high"].iloc[-1] == params.mib
        assert window["low"].tolist()[1:] == window["high"].tolist()[:-1]
        assert 100 < len(window) <= 129 < rows["nr_regions"].iloc[0]
    hot = rows[rows["kind"] == 2]
    assert hot["low"].tolist() == [64, 160] and hot["high"].tolist() == [96, 192]
    assert hot["since"].tolist()[1] == hot["until"].tolist()[0]
    # 0.4 s, of windows that 700 regions make 0.123 s long.
    assert 3.2 < hot["until"].iloc[0] < 3.3 and hot["until"].iloc[1] == 8
    assert [*UNITS, *DRAWN, "variant"] == list(rows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hot_at_kib": 229_380}, "hot_at_kib=229380 hot_kib=32768: takes a range that ends"),
        ({"then_at_kib": 229_380}, "then_at_kib=229380 hot_kib=32768: takes a range that ends"),
        ({"variant": "page-scan"}, "variant=page-scan: takes one that has regions"),
        ({"sample_us": 200_000}, "takes a sampling interval no longer"),
    ],
)
def test_what_no_run_takes(given, said):
    with pytest.raises(BadInput, match=said):
        parse(HotRange, given)
    assert parse(HotRange, {"hot_at_kib": 229_376}).hot_at_kib == 229_376
