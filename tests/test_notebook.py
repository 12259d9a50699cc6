"""A notebook's parameters are checked, and the source it shows is the library's."""

import inspect
import subprocess
import sys

import numba
import pytest

import lorelab
from lorelab import errors, params
from lorelab.swap.params import Variant


def test_importing_lorelab_leaves_a_kernel_as_it_is():
    """pandas, for one, behaves otherwise when it was imported before the kernel was there."""
    code = "import sys, lorelab; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not {"pandas", "numpy", "numba", "IPython"} & set(loaded.stdout.split())


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
