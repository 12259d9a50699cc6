"""Parameters that cannot be."""

import pytest
from pydantic import ValidationError

from lorelab.damon.model.alternatives import WINDOWS
from lorelab.damon.params import TRAITS, Accuracy, Masim, Schemes, Variant
from lorelab.errors import BadInput
from lorelab.params import parse


def test_schemes_take_no_fresh_pages():
    with pytest.raises(ValidationError, match="fresh=true: takes false"):
        Schemes(fresh=True)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sample_us": "200000"}, "no longer than the aggregation interval"),
        ({"min_regions": "2000"}, "no higher than the upper bound"),
        ({"min_regions": "2"}, "min_regions=2: "),
        ({"variant": "idle"}, "takes one of page-scan, fixed, damon"),
    ],
)
def test_attributes_that_cannot_be_are_refused(given, complaint):
    for params in (Masim, Accuracy):
        with pytest.raises(BadInput) as refused:
            parse(params, given)
        assert complaint in str(refused.value)


@pytest.mark.parametrize("model", [Masim, Schemes])
def test_a_machines_speeds_are_parameters_in_old_records_only(model):
    old = {"access_ns": 10, "check_ns": 1_650, "cpus": 2, "seed": 3}
    assert model.of_record(old) == model(seed=3)
    with pytest.raises(BadInput, match="unknown parameter access_ns"):
        parse(model, {"access_ns": 10})


def test_every_variant_says_what_it_does():
    assert set(TRAITS) == set(Variant)
    assert [one for one in Variant if one.traits.kernel] == [Variant.DAMON, Variant.SETTINGS_2020]
    assert {one for one in Variant if not one.traits.regions} == set(WINDOWS)
    assert Masim(variant="settings-2020").looks_us == 1_000_000
    assert Masim(update_us=7, aggr_us=100_000).looks_us == 7
