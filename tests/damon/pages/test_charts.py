"""The pictures of the DAMON chapter draw what their tables say."""

import vl_convert

from lorelab.damon import figures
from lorelab.damon.pages import charts


def test_each_workload_is_a_tick():
    rows = figures.spread(("runtime", "memused.avg"))
    spec = charts.spread(rows, "Each workload's overhead").to_dict()
    assert [len(drawn) for drawn in spec["datasets"].values()] == [len(rows)]
    ticks = vl_convert.vegalite_to_svg(spec).count('aria-roledescription="tick"')
    assert ticks == len(rows)
