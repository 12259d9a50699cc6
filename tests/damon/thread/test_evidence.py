"""What claims show as evidence, and what the findings say: each figure from where it comes."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest

from lorelab.damon.params import Hotspot
from lorelab.damon.thread import checks
from lorelab.damon.thread.claims import CLAIMS
from lorelab.damon.thread.findings import FINDINGS, TOO_FEW
from lorelab.experiments import experiment
from tests.damon.thread.conftest import REAL

ROOT = Path(__file__).parents[3]
VALUE = REAL["value"]


def weighed(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh()


def small_rows(configuration, kib):
    """The five small rows: 100,000 KiB, and so many more with a configuration."""
    rows = [f"memused-{name.replace('/', '-')}" for name in checks.WRAPPED]
    grown = {f"{row}-{configuration}": 100_000 + kib for row in rows}
    return {f"{row}-orig": 100_000.0 for row in rows} | grown


def test_the_gap_that_might_be_swap_cache():
    """The totals of prcl and orig, KiB in GiB, to a hundredth."""
    gaps = {
        metric: (VALUE[f"{metric}-total-orig"] - VALUE[f"{metric}-total-prcl"]) / 1024**2
        for metric in ("memused", "rss")
    }
    assert weighed("swapcache").evidence == {
        "MemFree gains, GiB": pytest.approx(gaps["memused"], abs=0.005),
        "resident sets lose, GiB": pytest.approx(gaps["rss"], abs=0.005),
    }
    for value in weighed("swapcache").evidence.values():
        assert round(100 * value) == pytest.approx(100 * value)


def test_what_saves_memory_is_told_to_a_hundredth():
    found = weighed("saves-memory").evidence
    rows = VALUE[VALUE.index.str.match("memused-(?!total).*-rec")]
    ratios = [value / VALUE[f"{id.removesuffix('rec')}orig"] for id, value in rows.items()]
    mean = math.prod(ratios) ** (1 / len(ratios))
    assert found["geometric mean, with the wrapper, %"] == round(100 * (mean - 1), 2)
    assert found["rows that grow"] == f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"


@pytest.mark.parametrize(
    ("kib", "rows"),
    [
        (10**7 / 1024, 5),  # 10 MB
        (10**7 / 1024 - 1, 0),
        (15 * 1024, 5),  # 15 MiB
        (15 * 1024 + 1, 0),
    ],
)
def test_either_reading_of_mb_belongs_to_what_the_wrapper_takes(edited, kib, rows):
    edited(small_rows("rec", kib))
    assert weighed("wrapper").why.startswith(f"{rows} of the five rows grow by that")


@pytest.mark.parametrize("configuration", ["ethp", "prcl"])
@pytest.mark.parametrize(
    ("kib", "verdict"), [(1, "holds"), (40 * 1024, "holds"), (0, "contradicted")]
)
def test_an_overhead_that_continues_has_no_number(edited, configuration, kib, verdict):
    edited(small_rows(configuration, kib))
    assert weighed(f"wrapper-{configuration}").verdict == verdict


def test_bounds_of_a_region_that_is_paged_out():
    """prcl: 4 KiB or more, 5 % of 20 checks or fewer, 5 s or more at 100 ms a window."""
    found = weighed("prcl-rules")
    assert found.evidence["smallest, KiB"] == 4
    assert found.evidence["most hits of 20"] == 1
    assert found.evidence["least age, windows"] == 50
    assert "takes a region of exactly 4 KiB, 5 %, 5 s" in found.why


def test_totals_that_are_the_sums_of_their_rows(edited):
    sums = checks.figures.totals()
    edited(
        {
            f"{row.metric.removesuffix('.avg')}-total-{row.configuration}": row.exact
            for row in sums.itertuples()
        }
    )
    found = weighed("totals")
    assert found.why == "Every total is the sum of its rows."
    assert found.evidence["totals that are the sums of their rows"] == "12 of 12"


def waits(**changes):
    params = Hotspot(mib=1 << 20, hot_kib=4 << 20, runs=30, windows=150, own=True, **changes)
    counters = experiment("damon/hotspot").recorded(params).counters
    return counters.loc[counters["counter"] == "wait", "value"]


def test_a_finding_says_how_many_times_longer_a_search_takes():
    said = next(finding for finding in FINDINGS if finding.name == "offset-of-32-bits").effect()
    off, on = waits(), waits(rand64=True)
    assert f"after {off.median():.0f} windows at the median instead of {on.median():.0f}. " in said
    found = re.search(r"median quotient is ([\d.]+) \(([\d.]+) to ([\d.]+), 95 %", said)
    times, low, high = map(float, found.groups())
    assert 1 < low < times < high and low < off.median() / on.median() < high


COMPARED = {
    "shared-last-count": "-p hot_kib=256 -p runs=12 -p windows=150 -p own=true -p kdamonds=2",
    "offset-of-32-bits": next(f.command for f in FINDINGS if f.name == "offset-of-32-bits"),
}
"""The runs of damon/hotspot from which a finding's figures are."""


@pytest.mark.parametrize("name", COMPARED)
def test_a_finding_says_that_its_comparison_ends_undecided(name):
    one = next(finding for finding in FINDINGS if finding.name == name)
    agreements = pd.read_csv(ROOT / "data/agreements/damon/hotspot.csv").set_index("parameters")
    named = set(re.findall("-p ([^ ]+)", COMPARED[name]))
    [verdict] = [
        row["verdict"] for words, row in agreements.iterrows() if set(words.split()) == named
    ]
    assert verdict == "undecided" and TOO_FEW in one.effect()


def test_a_figure_follows_that_rounds_to_what_is_printed(monkeypatch):
    monkeypatch.setattr(checks, "figure", lambda id: 4.0)
    found = checks.follows("any", lambda: 4.0049)()
    assert found.verdict == "arithmetic only"
    assert found.evidence == {"printed %": 4.0, "recomputed %": "4.0049"}
    assert checks.follows("any", lambda: 4.0051)().verdict == "holds with another number"
