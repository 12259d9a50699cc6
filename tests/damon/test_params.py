"""Parameters that cannot be."""

import pytest
from pydantic import ValidationError

from lorelab.damon.params import Accuracy, Masim, Schemes
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
