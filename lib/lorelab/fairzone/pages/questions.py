"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Tiobench


def disk() -> tuple[pd.DataFrame, str]:
    """Reads that hit, by the pace of the disk [%]."""
    paces = (60, 100, 120, 132, 150, 200, 500)
    runs = {pace: tiobench.run(Tiobench(variant="off", disk_mb_s=pace)) for pace in paces}
    tables = {pace: simulated.summary(run).set_index("phase") for pace, run in runs.items()}
    hits = {pace: table["hits"]["read"] for pace, table in tables.items()}
    percent = (100 * pd.Series(hits)).rename("hits, %")
    table = percent.rename_axis("MB/s").round(2).to_frame()
    much = percent[percent > 1]
    return table, (
        f"Neither. More than 1 % of the reads hit between {much.index.min()} and "
        f"{much.index.max()} MB/s only, and most at {percent.idxmax()} ({percent.max():.1f} %). "
        "What the disk and kswapd's nap have to do with it is on the model's page."
    )


def reserve() -> tuple[pd.DataFrame, str]:
    """Reads that hit, by min_free_kbytes [%]."""
    sizes = (67584, 33792, 11429)
    runs = {kib: tiobench.run(Tiobench(variant="off", min_free_kib=kib)) for kib in sizes}
    tables = {kib: simulated.summary(run).set_index("phase") for kib, run in runs.items()}
    hits = {kib: table["hits"]["read"] for kib, table in tables.items()}
    reserve = (100 * pd.Series(hits)).rename("hits, %").rename_axis("min_free_kib")
    table = reserve.round(2).to_frame()
    return table, (
        f"{reserve[67584]:.1f} % of the reads hit with the raised reserve, "
        f"{reserve[11429]:.1f} % without. The reserve sets how far low and high are apart. "
        "Either the disk moves more than that during a nap or less."
    )


def larger() -> tuple[pd.DataFrame, str]:
    """Reads that hit, by the size of the file in per cent of the memory [%]."""
    sizes = (120, 200, 300, 400)
    runs = {size: tiobench.run(Tiobench(variant="off", data_percent=size)) for size in sizes}
    tables = {size: simulated.summary(run).set_index("phase") for size, run in runs.items()}
    files = {size: table["hits"]["read"] for size, table in tables.items()}
    larger = (100 * pd.Series(files)).rename("hits, %").rename_axis("data_percent")
    table = larger.round(2).to_frame()
    pages = larger * larger.index
    return table, (
        f"Less: {larger[400]:.1f} % in place of {larger[200]:.1f}. In pages that is "
        f"{pages[400] / pages[200]:.2f} times as many, though the reader asks for twice as many."
    )
