"""A finding says what is known of it already."""

from dataclasses import replace
from datetime import date

import pytest

from lorelab.judging.findings import Finding, PriorArt, findings, table

FOUND = {one.title: one for one in findings()}
SEARCH = {"where": "an archive", "how": "its words", "when": date(2026, 11, 28)}


def test_none_goes_without_prior_art():
    given = {name: "x" for name in Finding.__dataclass_fields__ if name != "prior_art"}
    with pytest.raises(TypeError, match="prior_art"):
        Finding(**given)


@pytest.mark.parametrize("missing", SEARCH)
def test_no_report_is_one_that_was_looked_for(missing):
    PriorArt(**SEARCH)
    with pytest.raises(ValueError, match="name a report, or where, how and when"):
        PriorArt(**{name: given for name, given in SEARCH.items() if name != missing})


@pytest.mark.parametrize("report", ["a mail", "7135a05", "20251112154114.66053-5", "sj@ kernel"])
def test_a_report_can_be_looked_up(report):
    with pytest.raises(ValueError, match="not a message id, a commit or an address"):
        PriorArt({report: "says so"})


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (PriorArt({"a@b.org": "one", "0" * 12: "two"}), f"one (a@b.org); two ({'0' * 12})"),
        (
            PriorArt(**SEARCH),
            "no earlier report found: looked for in an archive on 2026-11-28, by its words",
        ),
        (
            PriorArt({"a@b.org": "one"}, **SEARCH),
            "one (a@b.org); further looked for in an archive on 2026-11-28, by its words",
        ),
    ],
)
def test_in_words(known, text):
    assert known.text == text


@pytest.mark.parametrize("title", FOUND)
def test_each_stands_in_the_table_and_says_what_it_costs(title):
    one = FOUND[title]
    assert isinstance(one.prior_art, PriorArt)
    [row] = table([one]).itertuples()
    assert row.known == one.prior_art.text
    assert one.effect()


def test_a_table_computes_nothing():
    """It lists names, and has to be there at once."""

    def costs():
        raise AssertionError("an effect is computed")

    assert len(table([replace(one, effect=costs) for one in FOUND.values()])) == len(FOUND)


@pytest.mark.parametrize(
    ("given", "send"),
    [
        ({"worth_sending": False, "not_ready": "a boot"}, "Not to send"),
        ({"worth_sending": True, "not_ready": "a boot"}, "Not ready: a boot"),
        ({"worth_sending": True, "not_ready": ""}, "Worth sending"),
    ],
)
def test_whether_it_can_be_sent(given, send):
    assert replace(next(iter(FOUND.values())), **given).send == send
