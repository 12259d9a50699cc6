"""No verdict is constant: for every claim that is computed, evidence that turns its verdict."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lorelab.damon import figures
from lorelab.damon.thread import checks, observed
from lorelab.damon.thread.claims import CLAIMS
from lorelab.judging.claims import ClaimVerdict
from tests.damon.thread.conftest import REAL

BY_ID = {claim.id: claim for claim in CLAIMS}
VALUE = REAL["value"]


def sums() -> dict[str, float]:
    """Totals that are the sums of their rows."""
    found = {}
    for metric in figures.METRICS:
        for name, total in figures.workloads(metric).sum().items():
            found[f"{metric.removesuffix('.avg')}-total-{name}"] = round(float(total), 3)
    return found


def wrapped(configuration: str, kib: float) -> dict[str, float]:
    """The five small rows, grown by as many KiB."""
    rows = [f"memused-{name.replace('/', '-')}" for name in checks.WRAPPED]
    return {f"{row}-{configuration}": VALUE[f"{row}-orig"] + kib for row in rows}


MIB = {
    f"footprint-{name.split('/')[1]}": int(VALUE[f"memused-{name.replace('/', '-')}-orig"] / 1024)
    for name in checks.WRAPPED
}
FIGURES = {
    "totals": sums(),
    "speedup": {"thp-speedup-best": 59.04},
    "workloads": {"parsec3-workloads": 12},
    "light": {"tldr-rec-runtime": 0.8},
    "summary": {"tldr-prcl-rss": 88.8},
    "rec-runtime-worst": {"runtime-parsec3-dedup-rec": 13.0},
    "overhead-rec-memused": {"overhead-rec-memused": 0.08},
    "saves-memory": {"tldr-rec-memused": 0.08},
    "wrapper": wrapped("rec", 0),
    "wrapper-percent": {"wrapper-volrend": 12},
    "wrapper-ethp": {"memused-parsec3-swaptions-ethp": VALUE["memused-parsec3-swaptions-orig"]},
    "wrapper-prcl": {"memused-parsec3-swaptions-prcl": VALUE["memused-parsec3-swaptions-orig"]},
    "footprints": MIB,
    "thp-speedup": {"thp-speedup": 4.4},
    "thp-memused": {"memused-total-thp": 43e6},
    "thp-best": {"runtime-splash2x-ocean_cp-thp": 1.0},
    "thp-worst": {"memused-parsec3-vips-thp": 6e6},
    "thp-waste": {"memused-total-thp": 40e6},
    "ethp-speedup": {"ethp-speedup": 1.92},
    "ethp-memused": {"ethp-memused": 1.21},
    "ethp-waste": {"ethp-waste": 83.7},
    "ethp-kept": {"ethp-kept": 40.72},
    "ethp-waste-ocean_ncp": {"ethp-waste-ocean_ncp": 74.0},
    "ethp-kept-ocean_ncp": {"ethp-kept-ocean_ncp": 48.6},
    "ethp-rules": {"ethp-cold-frequency": 15.0},
    "prcl-runtime": {"prcl-runtime": 4.94},
    "prcl-memused": {"prcl-memused": 5.43},
    "prcl-rss": {"prcl-rss": 23.69},
    "prcl-best": {"rss-splash2x-barnes-prcl": 1.0},
}
"""Rows of data/threads/damon.csv that are printed differently."""


def at_the_bound(growth: float):
    """An experiment whose recorded work grows with memory."""

    def recorded(params):
        large = params.mib == 1 << 20
        names = ("instructions_per_sample", "nr_regions_max", "cpu")
        return SimpleNamespace(
            counters=pd.DataFrame({"counter": names, "value": [growth if large else 1.0, 1000, 1]})
        )

    return lambda name: SimpleNamespace(recorded=recorded)


def placed(share: float):
    return lambda workload, **changes: {
        "misplaced": share,
        "true_wss_p50": 1.0,
        "rate_error": 0.0,
    }


def older(line: str, pages: int, count: int, age: int) -> bool:
    """Bounds of which one is another."""
    return pages > 1 and count < 1 and age > 6 * observed.SECOND


EVIDENCE = {
    "accurate": (observed, "accuracy", placed(0.5)),
    "bounded": (checks, "experiment", at_the_bound(16.0)),
    "prcl-rules": (observed, "taken", older),
}
"""What is counted, in the place of a name of a module."""
TEXTS = ("cells", "appendix")
"""What other columns than the value turn."""


def test_evidence_is_given_for_every_claim_that_is_no_judgement():
    computed = {id for id, claim in BY_ID.items() if not claim.weigh().judgement}
    assert computed == FIGURES.keys() | EVIDENCE.keys() | set(TEXTS)


@pytest.mark.parametrize("id", FIGURES)
def test_another_figure_turns_the_verdict(edited, id):
    before = BY_ID[id].weigh().verdict
    edited(FIGURES[id])
    assert BY_ID[id].weigh().verdict != before


@pytest.mark.parametrize("id", EVIDENCE)
def test_other_evidence_turns_the_verdict(monkeypatch, id):
    before = BY_ID[id].weigh().verdict
    monkeypatch.setattr(*EVIDENCE[id])
    assert BY_ID[id].weigh().verdict != before


def test_percentages_that_all_follow_would_be_arithmetic(edited):
    assert BY_ID["cells"].weigh().verdict == ClaimVerdict.ARITHMETIC
    assert "cut in place of rounded" in BY_ID["cells"].weigh().why
    found = figures.percentages()
    off = found[~found["agrees"]]
    edited({}, percent=off["recomputed"].map("{:.2f}".format).to_dict())
    assert BY_ID["cells"].weigh().verdict == ClaimVerdict.ARITHMETIC
    assert "cut" not in BY_ID["cells"].weigh().why
    edited({}, percent=(off["recomputed"] - 0.02).map("{:.2f}".format).to_dict())
    assert BY_ID["cells"].weigh().verdict == ClaimVerdict.OTHER_NUMBER


def test_an_appendix_would_be_seen(edited):
    assert BY_ID["appendix"].weigh().verdict == ClaimVerdict.NOT_TESTABLE
    edited({}, quantity={"repeats": "stdev of runtime"})
    assert BY_ID["appendix"].weigh().verdict == ClaimVerdict.HOLDS


def test_a_judgement_has_the_figures_that_it_rests_on():
    for id, claim in BY_ID.items():
        found = claim.weigh()
        assert found.evidence, id
        assert found.judgement == (id in ("swapcache", "cover-speedup", "cover-lighter")), id
