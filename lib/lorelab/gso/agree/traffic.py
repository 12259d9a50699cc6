"""`gso/traffic`: equal in every counter that was measured; wrong segments may be more where some
overtake.

A segment that overtakes leaves at once, before its sender is told and writes again, and is right.
On a host that is late, some leave after that, and are wrong. So the model's number of wrong ones is
the least there can be, and what left the card is the most.
"""

import pandas as pd

from lorelab.gso.agree.measured import unmeasured
from lorelab.gso.experiments.traffic import simulate
from lorelab.gso.params import Traffic
from lorelab.judging.agreement import Agreement, equal
from lorelab.judging.rows import EQUIVALENCE_MARGIN
from lorelab.lab.records import Record

WITHIN = EQUIVALENCE_MARGIN
"""Of `wrong`: how far apart its bounds may be, or nothing is decided."""


def agree(params: Traffic, record: Record) -> Agreement:
    """Compare counter by counter; of `wrong` among segments that overtake, the bounds."""
    model, kernel = simulate(params), record.counters
    modelled, measured = (one.set_index("counter")["value"] for one in (model, kernel))
    least, most = int(modelled["wrong"]), int(modelled["sent"])
    judged = equal(model, kernel, unmeasured(params))
    if not params.reorder or not least or "wrong" not in measured or measured["wrong"] == least:
        return judged
    wrong = int(measured["wrong"])
    others = equal(*(one[one["counter"] != "wrong"] for one in (model, kernel)), unmeasured(params))
    inside = least < wrong <= most
    row = judged.table[judged.table["counter"] == "wrong"]
    row = row.assign(agrees=inside, detectable=most / least - 1)
    method = f"{others.method}; wrong is {wrong}, at least {least} and at most {most}"
    table = pd.concat([others.table, row], ignore_index=True)
    return Agreement.of(table, method, within=WITHIN)
