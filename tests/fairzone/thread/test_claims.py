"""Each claim is weighed, and its verdict moves with the evidence."""

import pytest

from lorelab.fairzone import figures
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import checks
from lorelab.fairzone.thread.claims import CLAIMS
from lorelab.judging.claims import ClaimVerdict, ledger
from tests.fairzone.thread import test_follow_ups

EXPECTED = {
    "streaming": ClaimVerdict.HOLDS,
    "noise": ClaimVerdict.ARITHMETIC,
    "reset-below-watermark": ClaimVerdict.HOLDS,
    "reset-before-remote": ClaimVerdict.HOLDS,
    "reset-to-zero": ClaimVerdict.CONTRADICTED,
    "imbalance": ClaimVerdict.HOLDS,
    "remote-blocks": ClaimVerdict.HOLDS,
    "drift": ClaimVerdict.HOLDS,
    "boundary": ClaimVerdict.HOLDS,
    "local-repair": ClaimVerdict.HOLDS,
    "second-file": ClaimVerdict.HOLDS,
    "diffstat": ClaimVerdict.ARITHMETIC,
    "trapped": ClaimVerdict.HOLDS,
    "cold": ClaimVerdict.HOLDS,
}


@pytest.fixture(scope="module")
def weighed():
    return ledger(CLAIMS).set_index("id")


def test_verdicts(weighed):
    assert weighed["verdict"][list(EXPECTED)].to_dict() == EXPECTED
    cells = {f"{operation}-{n}" for operation in figures.OPERATIONS for n in figures.THREADS}
    other, off = [ClaimVerdict.OTHER_NUMBER], [ClaimVerdict.NOT_TESTABLE]
    sequential = weighed.loc[[f"seqread-{n}" for n in figures.THREADS], "verdict"]
    assert sequential.tolist() == 3 * other + 2 * off
    assert set(weighed.index) == {*cells, *EXPECTED, *test_follow_ups.EXPECTED}


def test_another_mean_moves_a_verdict(monkeypatch):
    table = figures.tiobench().assign(percent=50.0)
    monkeypatch.setattr(figures, "tiobench", lambda: table)
    assert checks.weigh_cell("seqwrite", 1)().verdict == ClaimVerdict.CONTRADICTED


def test_a_v1_that_resets_moves_verdicts(monkeypatch):
    fair = checks.ran(Variant.V1_REACHABLE)
    monkeypatch.setattr(checks, "ran", lambda variant, **given: fair)
    assert checks.weigh_local_repair().verdict == ClaimVerdict.CONTRADICTED
    assert checks.weigh_trapped().verdict == ClaimVerdict.CONTRADICTED
    assert checks.weigh_streaming().verdict == ClaimVerdict.CONTRADICTED
    cell = checks.weigh_cell("seqread", 1)()
    assert cell.verdict == ClaimVerdict.NOT_TESTABLE
    assert cell.evidence["hits in the model"] < checks.NO_HITS < cell.evidence["hits it needs"]


def test_no_printed_boost_moves_the_verdict(monkeypatch):
    means = figures.geometric_means()
    monkeypatch.setattr(figures, "geometric_means", lambda: means * 0 + 0.5)
    assert checks.weigh_streaming().verdict == ClaimVerdict.CONTRADICTED


def test_a_number_beyond_a_factor_of_two_is_the_models_fault():
    assert checks.near(2, 1) and checks.near(1, 2) and checks.near(0, 0)
    assert not checks.near(2.01, 1) and not checks.near(1, 2.01)
    assert not checks.near(1, 0) and not checks.near(0, 1)
    both = checks.weighed_gains({1: (20.0, 10.0), 8: (14.0, 10.0)}, {"given": 3})
    assert both.verdict == ClaimVerdict.OTHER_NUMBER and "1.4 to 2.0 times" in both.why
    assert both.evidence == {"given": 3, "model to print, 1": 2.0, "model to print, 8": 1.4}
    one = checks.weighed_gains({1: (20.0, 10.0), 8: (21.0, 10.0)}, {})
    assert (
        one.verdict == ClaimVerdict.NOT_TESTABLE
        and "2.1 times the printed one with 8 threads" in one.why
    )
    none = checks.weighed_gains({1: (0.1, 10.0)}, {})
    assert none.why == "The model finds nothing cached."


def test_a_second_file_that_hits_moves_the_verdict(monkeypatch):
    found = checks.ran(Variant.OFF, workload="two-files", data_percent=110, disk_mb_s=132)
    assert found.loc["file 2, read 5", "hits"] > checks.NO_HITS
    monkeypatch.setattr(checks, "ran", lambda variant, **given: found)
    weighed = checks.weigh_second_file()
    assert weighed.verdict == ClaimVerdict.CONTRADICTED
    assert weighed.evidence["file 1, fifth reading, least"] == found.loc["file 1, read 5", "hits"]


def test_drift_that_costs_no_walk_moves_the_verdict(monkeypatch):
    real = checks._counted
    monkeypatch.setattr(
        checks, "_counted", lambda params: real(params.model_copy(update={"exact": True}))
    )
    assert checks.weigh_drift().verdict == ClaimVerdict.CONTRADICTED
