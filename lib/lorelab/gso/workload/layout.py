"""Counters of `gso/layout`."""

import pandas as pd

from lorelab import counters
from lorelab.gso.model.layout import Layout, cache_lines, data_align
from lorelab.gso.params import Layout as Params


def table(params: Params, layout: Layout, source: str) -> pd.DataFrame:
    """Counters of a layout, whether computed or read out of a kernel."""
    columns: dict[str, tuple[str, list[int]]] = {
        "size": ("bytes", [layout.size]),
        "aligned": ("bytes", [data_align(layout.size)]),
        "holes": ("bytes", [sum(hole.size for hole in layout.holes)]),
    }
    for field in layout.fields:
        columns[f"offset_{field.name}"] = ("bytes", [field.offset])
    for number, lines in frag_lines(layout).items():
        columns[f"lines_frag{number}"] = ("lines", [lines])
    variant = f"linux-{params.kernel}"
    return counters.table("gso/layout", variant, source, columns, first=0)


def frag_lines(layout: Layout) -> dict[int, int]:
    """Cache lines from the start of a shared info to the end of its n-th fragment, by n."""
    ends = [field.offset + field.size for field in layout.fields if "frags[" in field.name]
    return {n: cache_lines(0, end) for n, end in enumerate(ends, 1)}
