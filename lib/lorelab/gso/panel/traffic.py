"""The panel of `gso/traffic`: many sends, counted in the reader's browser."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.gso.experiments.traffic import setting
from lorelab.gso.model.netem import probability
from lorelab.gso.model.traffic import COSTS, COUNTED, LATER, PROBED, run
from lorelab.gso.pages import charts
from lorelab.gso.params import TRAITS, Traffic, Variant
from lorelab.gso.workload.traffic import UNITS
from lorelab.numerics import U, njit

CHOICES: dict[str, tuple[str, ...]] = {}
COUNTERS = {name: UNITS.get(name, "calls") for name in (*PROBED, *LATER, "copied_by_send")}
MORE = (*COSTS, "sends")
"""What the chart draws beside `COUNTERS`."""
FIRST = 0
VARIANT = "variant"
GIVEN = np.concatenate([setting(Traffic(variant=variant)) for variant in Variant])
"""What a variant can do, and the sizes of its structures."""
AT_SEND = np.array([TRAITS[variant].at_send for variant in Variant])
FIRST_COST, FIRST_LATER = len(PROBED), len(PROBED + COSTS)
WIDTH = len(COUNTERS) + len(MORE)


@njit
def entry(params):
    """Send all; one row, a column for each of `COUNTERS` and `MORE`.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Traffic`.
    """
    p = params[0]
    given = GIVEN[p.variant : p.variant + 1].copy()
    s = given[0]
    s.sends = p.sends
    s.length = p.length
    s.segment = p.segment
    s.zerocopy = p.zerocopy
    s.held = p.held
    s.loss = probability(p.loss)
    s.reorder = probability(p.reorder)
    s.tap = p.tap
    s.received = p.received
    counted = np.zeros(1, COUNTED)
    run(given, U(p.seed), counted)
    words = counted.view(np.uint64)
    row = np.zeros((1, WIDTH), np.uint64)
    row[0, :FIRST_COST] = words[:FIRST_COST]
    row[0, FIRST_COST] = words[FIRST_LATER]
    if AT_SEND[p.variant] or p.zerocopy == 0:
        row[0, FIRST_COST + 1] = p.sends * p.length
    row[0, FIRST_COST + 2 : FIRST_LATER + 2] = words[FIRST_COST:FIRST_LATER]
    row[0, FIRST_LATER + 2] = p.sends
    return row


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    wide = table.pivot_table(index="variant", columns="counter", values="value", sort=False)
    return charts.costs_and_wrong(wide)
