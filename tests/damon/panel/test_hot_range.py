"""The panel gives the page's chart other data, and nothing else."""

import json

from lorelab.damon.pages import charts, simulated
from lorelab.damon.panel.hot_range import COUNTERS, MORE, entry
from lorelab.damon.params import HotRange
from lorelab.flat import flat
from lorelab.panel import kept, show

QUESTION = "damon/hot-range"


def test_the_chart_is_the_pages():
    rows = simulated.hot_range(HotRange(windows=3))
    own = charts.hot_range(rows).to_dict()
    [data] = own.pop("datasets").values()
    text = json.dumps(own)
    name = own.pop("data")
    given = show.about(QUESTION, kept.kept(QUESTION))["chart"]
    assert json.dumps(given, sort_keys=True) == json.dumps(own, sort_keys=True)
    assert text.count('"data"') == 1 and name.keys() == {"name"}
    assert {*COUNTERS, *MORE, "step", "variant"} == data[0].keys()


def test_what_is_drawn_is_what_the_entry_gives():
    params = HotRange(windows=5, variant="v7.3", seed=2**64 - 1)
    assert (
        entry(flat(params, {})).tolist()
        == simulated.hot_range(params)[[*COUNTERS, *MORE]].values.tolist()
    )
