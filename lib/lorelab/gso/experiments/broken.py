"""`gso/broken`: whether a design releases what is gone, which KASAN would say.

A page of the sender's that is sent too late is still a page: of wrong bytes KASAN says nothing. It
tells of a head that one of its holders released before, which is invariant I9 of `gso/lifetimes`.
"""

import pandas as pd

from lorelab.gso.experiments import lifetimes
from lorelab.gso.params import Broken, Lifetimes
from lorelab.gso.workload.broken import table

GONE = 9
"""The invariant: nothing is released that is gone."""


def simulate(params: Broken) -> pd.DataFrame:
    """Search every order of what can befall the segments on that link.

    Returns
    -------
    DataFrame
        `complains`: 1 if some order releases what is gone, otherwise 0. A tap is the only one that
        clones; nothing comes in on a receive path.
    """
    scope = Lifetimes(variant=params.variant, clone=params.tap, local=False, direct=False)
    gone = bool(lifetimes.shortest(scope, GONE))
    return table(params, {"complains": ("kernels", [int(gone)])}, "model")
