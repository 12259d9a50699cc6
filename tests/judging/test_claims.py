"""The ledger, whatever the design: each claim is weighed, and says where it stands."""

import io
import re

import pandas as pd
import pytest

from lorelab.cli import cli
from lorelab.errors import BadInput
from lorelab.judging import claims
from lorelab.judging.claims import Claim, ClaimVerdict, Weighed


def claim(verdict, **evidence):
    return Claim(
        "swap", "id", "It is so.", "line 1", "by eye", lambda: Weighed(verdict, "Why.", evidence)
    )


def test_the_ledger_asks_each_claim_for_its_finding():
    found = claims.ledger([claim(v, figure=1.23456, name="x") for v in ClaimVerdict])
    assert list(found.columns) == claims.COLUMNS
    assert list(found["verdict"]) == [str(v) for v in ClaimVerdict]
    assert set(found["evidence"]) == {"figure 1.235; name x"}


def test_an_unknown_design_is_named():
    with pytest.raises(BadInput, match="unknown design swop: takes one of swap"):
        claims.claims("swop")


def test_the_claims_of_a_design_have_names_of_their_own():
    found = claims.claims()
    assert len({(c.design, c.id) for c in found}) == len(found)
    for c in found:
        # Of a chapter that was just laid out they are what somebody wrote.
        assert c.statement.endswith(".") or c.weigh is claims.not_weighed
        assert c.place and c.check


def test_a_claims_name_can_be_linked_to():
    names = [claim.id for claim in claims.claims()]
    assert [name for name in names if not re.fullmatch("[a-zA-Z0-9_-]+", name)] == []


def test_the_door_gives_csv_in_a_pipe(monkeypatch, capsys):
    chosen = [claim(ClaimVerdict.HOLDS), claim(ClaimVerdict.CONTRADICTED, gap=2)]
    monkeypatch.setattr(claims, "claims", lambda design: chosen)
    cli(["claims"], standalone_mode=False)
    read = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)
    assert read.equals(claims.ledger(chosen))
