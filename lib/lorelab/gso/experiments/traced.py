"""`gso/traced`: what a reader's recording (`lorelab gso FILE`) says of `gso/traffic`."""

import pandas as pd

from lorelab.gso.experiments.traffic import count
from lorelab.gso.params import TRAITS, Traffic
from lorelab.gso.workload.probed import check
from lorelab.gso.workload.traced import table


def simulate(params: Traffic) -> pd.DataFrame:
    """Send all, and count what the recording says.

    Returns
    -------
    DataFrame
        Totals by `UNITS`.

    Raises
    ------
    BadInput
        As `lorelab.gso.experiments.probed.check`.
    """
    check(params)
    counted = count(params)
    first = TRAITS[params.variant].copies
    columns = {
        "completed": counted["told"],
        "copied_after_all": counted["copied"],
        "completions": counted["completions"],
        "completions_that_say_copied": counted["completions_copied"],
        "copies_by_skb_segment": counted["copies"] * first,
        "copies_by_others": counted["copies"] * (not first),
        "copied_bytes": counted["copied_bytes"],
    }
    return table(params, columns, "model")
