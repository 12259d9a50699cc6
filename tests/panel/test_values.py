"""The form says of each value what the library says, and compiled code gets each as it is."""

from typing import ClassVar

import numpy as np
import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.flat import flat
from lorelab.panel import kept, values
from lorelab.params import Params, Refusal, param, parse

PANELS = kept.panels()


def form(question):
    model = experiment(question).Params
    return model, values.fields(model, model(), kept.described(question).CHOICES)


@pytest.mark.parametrize("question", PANELS)
def test_the_form_has_every_parameter(question):
    model, fields = form(question)
    assert [field["name"] for field in fields] == list(model.model_fields)
    assert parse(model, {field["name"]: field["default"] for field in fields}) == model()


@pytest.mark.parametrize("question", PANELS)
def test_each_bound_says_what_the_library_says(question):
    model, fields = form(question)
    for field in fields:
        for bound, number, said in field.get("bounds", ()):
            limit = float(number)
            bad = {"ge": limit - 4096, "gt": limit, "le": limit * 2 + 4096, "lt": limit * 2}
            if bound in bad:
                with pytest.raises(BadInput) as error:
                    parse(model, {field["name"]: int(bad[bound])})
                assert str(error.value).endswith(f": {said}")


@pytest.mark.parametrize("question", PANELS)
def test_pairs_that_are_refused_are_refused(question):
    model, _ = form(question)
    for one, a, other, b, said in values.refused(model, kept.described(question).CHOICES):
        with pytest.raises(BadInput) as error:
            parse(model, {one: a, other: b})
        assert str(error.value) == said


class Twins(Params):
    refusals: ClassVar = (
        Refusal("2 <= left < right << 1 and not apart", "left={left}: takes {right * 2 // 3 + 1}"),
    )
    left: int = param(1, "of them")
    right: int = param(1, "of them")
    apart: bool = param(False, "they are")


def test_a_refusal_is_one_tree_for_the_page():
    [[when, parts]] = values.rules(Twins)
    left, right = {"of": "left"}, {"of": "right"}
    both = ["and", ["<=", "2", left], ["<", left, ["<<", right, "1"]]]
    assert when == ["and", both, ["not", {"of": "apart"}]]
    third = ["//", ["*", right, "2"], "3"]
    assert parts == ["left=", left, ": takes ", ["+", third, "1"], ""]
    with pytest.raises(BadInput) as error:
        parse(Twins, {"left": 3, "right": 5})
    assert str(error.value) == "left=3: takes 4"
    for fits in ({"left": 1, "right": 5}, {"left": 10, "right": 5}, {"left": 3, "apart": True}):
        assert parse(Twins, fits).left == fits["left"]


def test_a_refusal_that_no_page_works_out_is_an_error():
    class Powers(Params):
        refusals: ClassVar = (Refusal("abs(left) > 1", "no"),)

    with pytest.raises(ValueError, match="no page works out abs"):
        values.rules(Powers)


def test_a_list_is_so_many_numbers_and_zeros():
    model = experiment("swap/holes").Params
    [field] = [each for each in form("swap/holes")[1] if each["kind"] == "list"]
    assert (field["name"], field["most"], field["limit"]) == ("punched", 64, 16383)
    for bad in ("a", "1,", "0", "16384", "1," * 64 + "1", "-1", "1 2"):
        with pytest.raises(BadInput) as error:
            parse(model, {"punched": bad})
        assert str(error.value) == f"punched={bad}: {field['error']}"
    row = flat(model(punched="40,7"), {})[0]
    assert row["punched"].tolist() == [40, 7, *[0] * 62]


def test_flat_values_are_the_parameters():
    model = experiment("swap/allocator-test").Params
    given = model(options="-a -s", seed=2**32 - 1, variant="v3", stealing=False)
    row = flat(given, kept.described("swap/allocator-test").CHOICES)[0]
    assert (row["options"], row["seed"], row["variant"], row["stealing"]) == (3, 2**32 - 1, 3, 0)
    model = experiment("gso/traffic").Params
    row = flat(model(seed=2**64 - 1, held=True, loss=2.5), {})
    assert row["seed"].astype(np.uint64) == 2**64 - 1
    assert row["loss"] == 2.5
