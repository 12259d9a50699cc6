"""A thread's claims on its page: a strip of verdicts, and a table whose rows links lead to."""

from html import escape

import altair as alt
import pandas as pd

from lorelab.judging.claims import ClaimVerdict
from lorelab.showing import charts

MIME = "application/vnd.lorelab.claims+json"
"""Claims as data, beside the table that is shown; `lorelab.book.ledger` collects them."""
COLOURS = {
    str(ClaimVerdict.HOLDS): "#009e73",
    str(ClaimVerdict.OTHER_NUMBER): "#56b4e9",
    str(ClaimVerdict.CONTRADICTED): "#d55e00",
    str(ClaimVerdict.ARITHMETIC): "#e69f00",
    str(ClaimVerdict.NOT_TESTABLE): "#999999",
    str(ClaimVerdict.OPEN): "#dddddd",
}


class Claims:
    """The weighed claims of one thread, as a table of its page, a row each that links lead to.

    Parameters
    ----------
    table : DataFrame
        As `lorelab.judging.claims.ledger` returns it, of one design.
    columns : tuple of str
        What is shown of it, beside the claim's name.
    at : str
        Page that a claim's name leads to; by default the row itself.
    """

    def __init__(
        self,
        table: pd.DataFrame,
        columns: tuple[str, ...] = ("statement", "verdict", "why"),
        at: str = "",
    ):
        self.table, self.columns, self.at = table, columns, at

    def __repr__(self) -> str:
        return repr(self.table[["id", "verdict"]])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("claim", *self.columns))
        rows = "\n".join(map(self._row, self.table.to_dict("records")))
        table = f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody>'
        return f'<div class="ledger">{table}</table></div>'

    def _row(self, row: dict[str, str]) -> str:
        cells = "".join(f"<td>{escape(row[name])}</td>" for name in self.columns)
        name = escape(row["id"])
        here = "" if self.at else f' id="claim-{name}"'
        return f'<tr{here}><th><a href="{self.at}#claim-{name}">{name}</a></th>{cells}</tr>'

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, object]:
        shown = {"text/plain": repr(self), "text/html": self._repr_html_()}
        # The page that collects has them from elsewhere.
        return shown if self.at else shown | {MIME: self.table.to_dict("records")}


def shown(every: pd.DataFrame) -> list[str]:
    """The verdicts that there are; those that wait for one only where a claim does.

    Examples
    --------
    >>> shown(pd.DataFrame({"verdict": ["holds", "contradicted"]}))
    ['holds', 'holds with another number', 'contradicted', 'arithmetic only', 'not testable here']
    """
    waits = str(ClaimVerdict.OPEN)
    return [name for name in COLOURS if name != waits or (every["verdict"] == waits).any()]


def strip(every: pd.DataFrame, see: str = "") -> alt.LayerChart:
    """A strip for each thread, a piece for each claim, coloured by its verdict.

    Parameters
    ----------
    every : DataFrame
        As `lorelab.judging.claims.ledger` returns it, of one design or more.
    see : str
        What to see, below the title.
    """
    order = shown(every)
    rows = every.assign(rank=every["verdict"].map(order.index)).sort_values(
        ["design", "rank"], kind="stable"
    )
    place = rows.groupby("design").cumcount()
    rows = rows.assign(place=place, end=place + 1)[["design", "id", "verdict", "place", "end"]]
    counted = rows.groupby(["design", "verdict"], sort=False).agg(
        place=("place", "min"), end=("end", "max"), claims=("id", "size")
    )
    counted = counted.assign(middle=(counted["place"] + counted["end"]) / 2).reset_index()
    designs = list(every["design"].unique())
    y = alt.Y("design:N", title=None, sort=designs, axis=None if len(designs) == 1 else alt.Axis())
    colour = alt.Color(
        "verdict:N",
        title=None,
        scale=alt.Scale(domain=order, range=[COLOURS[name] for name in order]),
        legend=alt.Legend(orient="bottom", columns=3, symbolType="square"),
    )
    pieces = alt.Chart(rows).mark_rect(stroke="white", strokeWidth=1.5)
    numbers = alt.Chart(counted).mark_text(fontSize=13, fontWeight="bold", color="black")
    return alt.layer(
        pieces.encode(x=alt.X("place:Q", title="claims"), x2="end", y=y, color=colour),
        numbers.encode(x="middle:Q", y=y, text="claims:Q"),
        title=charts.title("What became of each claim", see),
    ).properties(height=alt.Step(34))
