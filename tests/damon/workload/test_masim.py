"""masim's configuration language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon.workload import masim
from lorelab.errors import BadInput


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "takes a paragraph of regions"),
        ("a, 100\n\np\n10\nb, 0, 64, 1\n", "line 5: unknown region b: takes a"),
        ("a, 100\n\np\n10\na, 0, 64, 1, up\n", "line 5: unknown mode up: takes ro, wo or rw"),
        ("a, big\n\np\n10\na, 0, 64, 1\n", "line 1: bytes: 'big': takes a number"),
        ("a, 100\na, 5\n\np\n10\na, 0, 64, 1\n", "line 2: region a is there twice"),
        ("a, 100\n\np\nten\na, 0, 64, 1\n", "line 4: milliseconds: 'ten'"),
        ("a, 100\n\np\n10\n", "line 3: 'p': takes a phase"),
        ("a, 100\n\np\n10\na, 0, 64\n", "line 5: 'a, 0, 64': takes region, random"),
        ("a, 100\n\np\n10\na, 0, 64, 0\n", "has no weight above 0"),
        ("a, 100\n\np\n10\na, 0, 0, 1\n", "stride: '0': takes a number from 1"),
        (f"a, {'0' * 19}1{'9' * 5000}\n\np\n10\na, 0, 1, 1\n", "takes a number from 1"),
    ],
)
def test_a_masim_file_that_cannot_be_is_refused_in_one_line(text, complaint):
    with pytest.raises(BadInput) as refused:
        masim.parse(text, "some.cfg")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@settings(max_examples=200)
@given(st.text(alphabet="a, 10\n#\x00é-", max_size=80))
def test_any_text_is_a_configuration_or_one_line(text):
    try:
        config = masim.parse(text, "fuzz")
    except BadInput as refused:
        assert "\n" not in str(refused)
    else:
        assert config.regions and config.phases


def test_masims_own_configurations():
    zigzag = masim.builtin("zigzag")
    assert zigzag.regions == {"a": 100_000_000, "b": 100_000_000}
    assert [phase.ms for phase in zigzag.phases] == [10_000] + [5_000] * 12
    assert [phase.accesses[0].region for phase in zigzag.phases[1:4]] == ["a", "b", "a"]
    assert masim.seconds(masim.builtin("stairs-30secs")) == 30


def test_comments_modes_and_initial_data_are_read():
    text = "#regions\n# name, bytes\na, 256, none\n\n# one\nfirst\n10\n# what\na, 1, 64, 80, wo\n"
    assert masim.parse(text, "default").phases[0].accesses == (masim.Access("a", True, 64, 80),)
