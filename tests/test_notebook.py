"""A notebook's parameters are checked, and the source it shows is the library's."""

import inspect

import numba
import pytest

import lorelab
from lorelab import errors, params
from lorelab.swap.params import Variant


def test_good_parameters_come_back_checked():
    given = lorelab.check("swap/allocator-test", seed=7, variant="v3")
    assert (given.seed, given.variant) == (7, Variant.V3)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"sed": 7}, "unknown parameter sed"), ({"seed": -1}, "seed=-1"), ({"seed": "x"}, "seed=x")],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(errors.BadInput, match=says):
        lorelab.check("swap/allocator-test", **given)


def test_an_unknown_experiment_is_named():
    with pytest.raises(errors.BadInput, match="swap/nothing"):
        lorelab.check("swap/nothing")


def test_show_gives_the_source_as_it_stands():
    shown = lorelab.show(params.label, params.shown)
    assert inspect.getsource(params.label).strip() in repr(shown)
    assert inspect.getsource(params.shown).strip() in repr(shown)
    assert shown._repr_markdown_() == f"```python\n{shown!r}\n```"


@numba.njit
def twice(x):
    return 2 * x


def test_show_sees_through_numba():
    assert "return 2 * x" in repr(lorelab.show(twice))
