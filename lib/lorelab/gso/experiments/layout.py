"""`gso/layout`: where a pointer more could stand, and what it costs in every packet."""

import pandas as pd

from lorelab.gso.model.layout import (
    POINTER,
    Field,
    insert,
    place,
)
from lorelab.gso.model.structs import DECLARED
from lorelab.gso.params import Layout as Params
from lorelab.gso.workload.layout import table


def fields(params: Params) -> list[Field]:
    """The declaration asked for, with the pointer where it is asked for."""
    declared = DECLARED[params.kernel, params.struct]
    if params.pointer == "none":
        return declared
    if params.pointer == "end":
        return [*declared, POINTER]
    return insert(declared, POINTER, params.pointer)


def simulate(params: Params) -> pd.DataFrame:
    """Lay the struct out.

    Returns
    -------
    DataFrame
        `size`, `aligned` (SKB_DATA_ALIGN), `holes` [bytes], and `offset_NAME` of each member; of
        skb_shared_info also `lines_frag1` to `lines_frag17`, cache lines up to the end of so many
        fragments.
    """
    return table(params, place(fields(params)), "model")
