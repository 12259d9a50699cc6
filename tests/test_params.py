"""What only one half reads is refused by the other, and tells no records apart."""

import pytest

from lorelab.params import Params, for_kernel, only, param, without_effect


class Halves(Params):
    both: int = param(1, "what both read")
    cost: int = param(5, "what the model takes it to cost", only="model")
    cgroups: bool = param(False, "what the model has no idea of", only="kernel")


def test_each_half_reads_what_is_declared():
    assert only(Halves, "model") == {"cost"}
    assert only(Halves, "kernel") == {"cgroups"}


@pytest.mark.parametrize(
    ("given", "model", "kernel"),
    [
        ({"both": 2}, None, None),
        ({"cost": 5, "cgroups": False}, None, None),
        ({"both": 2, "cost": 6}, None, "cost=6: only the model reads it"),
        ({"cgroups": True}, "cgroups=true: only the kernel reads it", None),
    ],
)
def test_a_half_says_which_value_it_would_not_read(given, model, kernel):
    params = Halves(**given)
    assert without_effect(params, "model") == model
    assert without_effect(params, "kernel") == kernel


def test_several_values_are_one_line():
    class Two(Halves):
        moves: float = param(2, "moves", only="model")

    said = without_effect(Two(cost=6, moves=3), "kernel")
    assert said == "cost=6 moves=3.0: only the model reads them"


def test_a_kernel_is_asked_for_what_it_reads():
    assert for_kernel(Halves(both=2, cost=6, cgroups=True)) == Halves(both=2, cgroups=True)
