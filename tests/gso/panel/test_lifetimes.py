"""The shortest ways that the page draws are those of the experiment's own search."""

import numpy as np
import pandas as pd
import pytest

from lorelab.flat import flat
from lorelab.gso.model.invariants import INVARIANTS
from lorelab.gso.model.lifetimes import STEPS
from lorelab.gso.model.states import ABSENT, PLACES
from lorelab.gso.pages import orders
from lorelab.gso.panel.lifetimes import CHOICES, COUNTERS, MORE, entry, ways
from lorelab.gso.params import Lifetimes, Variant
from tests.panel.points import points

SCOPES = [Lifetimes(variant=variant) for variant in Variant] + [
    params for params, _ in points("gso/lifetimes", 24, seed=1) if params.segments < 3
]


@pytest.mark.parametrize("params", SCOPES, ids=str)
def test_compiled_for_the_page_it_finds_the_same(params):
    found = pd.DataFrame(entry(flat(params, CHOICES)), columns=[*COUNTERS, *MORE])
    pd.testing.assert_frame_equal(found, ways(params)[[*COUNTERS, *MORE]])


@pytest.mark.parametrize("variant", Variant)
def test_what_is_drawn_is_what_the_table_says(variant):
    params = Lifetimes(variant=variant)
    found = ways(params)
    for number in INVARIANTS:
        drawn = found[(found["kind"] == number) & (found["at"] > 0)]
        said = orders.counterexample(params, number)
        assert len(drawn) == len(said)
        if said.empty:
            continue
        kinds = [orders.DONE[STEPS[taken // 8]] for taken in drawn["taken"]]
        assert kinds == list(said["step"])
        assert list(drawn["ubuf_info"]) == list(said["holders"])
        assert list(drawn["head"]) == list(said["head"])
        sender = np.where(said["rewritten"], 2, said["told"].astype(int))
        assert list(drawn["sender"]) == list(sender)
        for name in ("segment 1", "segment 2", "segment 3", "clone"):
            places = [PLACES[code // 4].replace("in the head", "-") for code in drawn[name]]
            assert places == list(said[name])
        assert (drawn["segment 4"] == ABSENT).all()
