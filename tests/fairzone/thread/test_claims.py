"""Each claim is weighed, and its verdict moves with the evidence."""

import pytest

from lorelab.claims import ClaimVerdict, ledger
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import checks, figures
from lorelab.fairzone.thread.claims import CLAIMS
from tests.fairzone.thread import test_follow_ups

EXPECTED = {
    "streaming": ClaimVerdict.CONTRADICTED,
    "noise": ClaimVerdict.ARITHMETIC,
    "reset-below-watermark": ClaimVerdict.HOLDS,
    "reset-before-remote": ClaimVerdict.HOLDS,
    "reset-to-zero": ClaimVerdict.CONTRADICTED,
    "imbalance": ClaimVerdict.CONTRADICTED,
    "remote-blocks": ClaimVerdict.HOLDS,
    "drift": ClaimVerdict.CONTRADICTED,
    "boundary": ClaimVerdict.HOLDS,
    "local-repair": ClaimVerdict.CONTRADICTED,
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
    sequential = weighed[weighed.index.str.startswith("seqread")]
    assert set(sequential["verdict"]) == {ClaimVerdict.OTHER_NUMBER}
    assert set(weighed.index) == {*cells, *EXPECTED, *test_follow_ups.EXPECTED}


def test_another_mean_moves_a_verdict(monkeypatch):
    table = figures.tiobench().assign(percent=50.0)
    monkeypatch.setattr(figures, "tiobench", lambda: table)
    assert checks.weigh_cell("seqwrite", 1)().verdict == ClaimVerdict.CONTRADICTED


def test_a_v1_that_resets_moves_verdicts(monkeypatch):
    fair = checks.ran(Variant.V1_REACHABLE)
    monkeypatch.setattr(checks, "ran", lambda variant, **given: fair)
    assert checks.weigh_local_repair().verdict == ClaimVerdict.HOLDS
    assert checks.weigh_trapped().verdict == ClaimVerdict.CONTRADICTED
    cell = checks.weigh_cell("seqread", 1)()
    assert cell.verdict == ClaimVerdict.NOT_TESTABLE
    assert cell.evidence["hits in the model"] < checks.NO_HITS < cell.evidence["hits it needs"]
