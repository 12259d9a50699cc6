"""How far into a region damon_rand() of 6.12 draws, which takes 32 bits of the region's width."""

import altair as alt
import pandas as pd

from lorelab.damon.model.state import damon_new_ctx, damon_rand
from lorelab.numerics import U
from lorelab.showing.charts import OKABE_ITO, title

DRAWS = 10_000


def reached(sizes: list[int], draws: int = DRAWS) -> pd.DataFrame:
    """Farthest of `draws` offsets into a region, by its size.

    Parameters
    ----------
    sizes : list of int
        GiB
    draws : int

    Returns
    -------
    DataFrame
        `region` and `reached`, GiB.
    """
    farthest = []
    for gib in sizes:
        region = damon_new_ctx([(0, 0, gib << 30)])
        offsets = (int(damon_rand(region, U(0), U(gib << 30))) for _ in range(draws))
        farthest.append(max(offsets) / 2**30)
    return pd.DataFrame({"region": sizes, "reached": farthest})


def draw(table: pd.DataFrame) -> alt.LayerChart:
    """Draw `reached`: a bar a region, below what can be sampled, above what can't."""
    names = ["is sampled", "never"]
    rows = pd.concat(
        [
            table.assign(low=0.0, high=table["reached"], part=names[0]),
            table.assign(low=table["reached"], high=table["region"], part=names[1]),
        ]
    )
    return (
        alt.Chart(rows)
        .mark_bar(size=22)
        .encode(
            x=alt.X("region:O", title="region, GiB", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("low:Q", title="offset in it, GiB", axis=alt.Axis(tickCount=4)),
            y2="high:Q",
            color=alt.Color(
                "part:N",
                title=None,
                sort=names,
                scale=alt.Scale(domain=names, range=[OKABE_ITO[0], OKABE_ITO[7]]),
            ),
        )
        .properties(
            width=460,
            height=150,
            title=title(
                "Which part of a region DAMON of 6.12 samples",
                f"Model: the farthest of {DRAWS:,} draws of damon_rand().",
            ),
        )
    )
