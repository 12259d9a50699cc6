"""What an assert has to do to vouch for a sentence."""

import pytest

from lorelab.book import asserted

PAGE = "from lorelab import tables\nrows = tables.read()\nshares = 100 * rows\n"


def why_not(code: str) -> str:
    return asserted.wanting("one", asserted.of_source(PAGE + code).get("one", []))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "no assert 'one'"),
        ('assert rows.all(), "other"', "no assert 'one'"),
        ('assert True, "one"', "assert 'one' compares nothing"),
        ('assert rows, "one"', "assert 'one' compares nothing"),
        ('assert 1 < 2, "one"', "assert 'one' looks at nothing that the page computes"),
        (
            'three = 3\nassert three == 3, "one"',
            "assert 'one' looks at nothing that the page computes",
        ),
        ('assert rows.sum() == rows.sum(), "one"', "assert 'one' compares a thing with itself"),
    ],
)
def test_an_assert_that_can_check_nothing_is_named(code, why):
    assert why_not(code) == why


@pytest.mark.parametrize(
    "code",
    [
        'assert shares.max() < 3, "one"',
        'assert rows.is_monotonic_increasing, "one"',
        'first, last = shares\nassert first == last, "one"',
        'held = (rows == 3).all()\nassert held, "one"',
        'told = [share for share in shares]\nassert len(told) == 2, "one"',
        'found = {}\nfound.update(shares)\nassert not found["late"], "one"',
        'assert True, "one"\nassert shares[0] > 1, "one"',
    ],
)
def test_what_the_page_computes_and_compares_can(code):
    assert why_not(code) == ""


@pytest.mark.parametrize(
    ("code", "spans"),
    [
        ('assert shares[0] > 1, "one"', False),
        ('assert shares[0] == rows[0], "one"', False),
        ('assert (shares > 1).all(), "one"', True),
        ('assert shares.tolist() == [1, 2], "one"', True),
        ('held = (rows == 3).all()\nassert held, "one"', True),
    ],
)
def test_more_than_one_value_is_looked_at_or_not(code, spans):
    [one] = asserted.of_source(PAGE + code)["one"]
    assert one.spans == spans
