"""The panel gives the page's chart other data, and nothing else."""

import json

from lorelab.flat import flat
from lorelab.panel import kept, show
from lorelab.swap.pages import holes
from lorelab.swap.panel.holes import CLICKED, COUNTERS, MORE, entry
from lorelab.swap.params_holes import Holes

QUESTION = "swap/holes"


def test_the_chart_is_the_pages():
    own = holes.chart(holes.rows(Holes(clusters=2, small_clusters=0, holes=9))).to_dict()
    [data] = own.pop("datasets").values()
    text = json.dumps(own)
    name = own.pop("data")
    about = show.about(QUESTION, kept.kept(QUESTION))
    assert json.dumps(about["chart"], sort_keys=True) == json.dumps(own, sort_keys=True)
    assert text.count('"data"') == 1 and name.keys() == {"name"}
    assert {*COUNTERS, *MORE, "step", "variant"} == data[0].keys()
    assert about["clicked"] == CLICKED


def test_what_is_drawn_is_what_the_entry_gives():
    params = Holes(seed=2**64 - 1, punched="700,1200", hole=4, shift=2, holes=300)
    assert (
        entry(flat(params, {})).tolist() == holes.rows(params)[[*COUNTERS, *MORE]].values.tolist()
    )
