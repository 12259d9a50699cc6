"""Each claim is weighed, and its verdict moves with the evidence."""

import pytest

from lorelab.claims import Verdict, ledger
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import checks, figures
from lorelab.fairzone.thread.claims import CLAIMS
from tests.fairzone.thread import test_follow_ups

EXPECTED = {
    "streaming": Verdict.CONTRADICTED,
    "noise": Verdict.ARITHMETIC,
    "reset-below-watermark": Verdict.HOLDS,
    "reset-before-remote": Verdict.HOLDS,
    "reset-to-zero": Verdict.CONTRADICTED,
    "imbalance": Verdict.CONTRADICTED,
    "remote-blocks": Verdict.HOLDS,
    "drift": Verdict.CONTRADICTED,
    "boundary": Verdict.HOLDS,
    "local-repair": Verdict.CONTRADICTED,
    "diffstat": Verdict.ARITHMETIC,
    "trapped": Verdict.HOLDS,
    "cold": Verdict.HOLDS,
}


@pytest.fixture(scope="module")
def weighed():
    return ledger(CLAIMS).set_index("id")


def test_verdicts(weighed):
    assert weighed["verdict"][list(EXPECTED)].to_dict() == EXPECTED
    cells = {f"{operation}-{n}" for operation in figures.OPERATIONS for n in figures.THREADS}
    sequential = weighed[weighed.index.str.startswith("seqread")]
    assert set(sequential["verdict"]) == {Verdict.OTHER_NUMBER}
    assert set(weighed.index) == {*cells, *EXPECTED, *test_follow_ups.EXPECTED}


def test_another_mean_moves_a_verdict(monkeypatch):
    table = figures.tiobench().assign(percent=50.0)
    monkeypatch.setattr(figures, "tiobench", lambda: table)
    assert checks.weigh_cell("seqwrite", 1)().verdict == Verdict.CONTRADICTED


def test_a_v1_that_resets_moves_verdicts(monkeypatch):
    fair = checks.ran(Variant.V1_REACHABLE)
    monkeypatch.setattr(checks, "ran", lambda variant, **given: fair)
    assert checks.weigh_local_repair().verdict == Verdict.HOLDS
    assert checks.weigh_trapped().verdict == Verdict.CONTRADICTED
    cell = checks.weigh_cell("seqread", 1)()
    assert cell.verdict == Verdict.NOT_TESTABLE
    assert cell.evidence["hits in the model"] < checks.NO_HITS < cell.evidence["hits it needs"]
