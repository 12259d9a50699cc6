"""A panel on its page: what the browser needs, as one piece of HTML."""

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.experiments import experiment
from lorelab.flat import flat
from lorelab.panel import kept, values
from lorelab.params import Params, label

PAGE = """\
<div class="lorelab-panel" id="{id}">
<script type="application/json">{about}</script>
</div>"""


class Panel:
    """The form with which a reader runs an experiment in the page."""

    def __init__(self, question: str, about: dict[str, Any] | None):
        self.question, self.about = question, about

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, str]:
        if self.about is None:
            text = f"The panel of {self.question} is stale: `make outputs` compiles it anew."
            return {"text/html": f"<p>{text}</p>", "text/plain": text}
        about = json.dumps(self.about, sort_keys=True).replace("</", "<\\/").replace("<!", "<\\!")
        page = PAGE.format(id=f"panel-{self.question.replace('/', '-')}", about=about)
        return {"text/html": page, "text/plain": f"Panel: {self.question}"}


def panel(question: str, start: Params | None = None) -> Panel:
    """The panel of an experiment.

    Without scripts, and where a page has no `form.js`, it shows nothing. Where its module is stale
    it says so.

    Parameters
    ----------
    question : str
        Experiment as `design/experiment`.
    start : Params, optional
        What the form shows first, and after a reset; by default the defaults.
    """
    described, have = kept.described(question), kept.kept(question)
    if have is None or have.rests_on != kept.rests_on(described.entry):
        return Panel(question, None)
    return Panel(question, about(question, have, start))


def chart(question: str, *runs: Params) -> alt.TopLevelMixin:
    """The chart that the panel draws, of runs made by the library: what a page shows before it.

    Parameters
    ----------
    question : str
        Experiment as `design/experiment`.
    *runs : Params
        One or more, in the order in which they are drawn; by default one at the defaults.
    """
    described = kept.described(question)
    tables = []
    for params in runs or (experiment(question).Params(),):
        rows = described.entry(flat(params, described.CHOICES))
        tables.append(_table(question, params, list(rows.T)))
    return described.chart(pd.concat(tables, ignore_index=True))


def about(question: str, have: kept.Kept, start: Params | None = None) -> dict[str, Any]:
    """What `panel.js` and `form.js` are given of an experiment and its module."""
    described, subject = kept.described(question), experiment(question)
    start = start or subject.Params()
    return {
        "experiment": question,
        "fields": values.fields(subject.Params, start, described.CHOICES),
        "rules": values.rules(subject.Params),
        "refused": values.refused(subject.Params, described.CHOICES),
        "counters": list(described.COUNTERS.items()),
        "more": list(described.MORE),
        "without": getattr(described, "WITHOUT", {}),
        "first": described.FIRST,
        "numbers": have.numbers,
        "variant": described.VARIANT,
        "clicked": getattr(described, "CLICKED", None),
        "note": getattr(described, "NOTE", ""),
        "rerun": getattr(described, "RERUN", None),
        "chart": _chart(question, start),
        "module": have.packed,
    }


def _chart(question: str, start: Params) -> dict[str, Any]:
    """The page's chart of an experiment in Vega-Lite's words, without data."""
    described = kept.described(question)
    nothing = [np.zeros(1)] * len((*described.COUNTERS, *described.MORE))
    spec = described.chart(_table(question, start, nothing)).to_dict()
    return {part: inside for part, inside in spec.items() if part not in ("data", "datasets")}


def _table(question: str, params: Params, columns: list[np.ndarray]) -> pd.DataFrame:
    """What a panel's chart is made of: its counters, and what it draws beside them."""
    described = kept.described(question)
    name = getattr(params, described.VARIANT, described.VARIANT)
    units = {**described.COUNTERS, **dict.fromkeys(described.MORE, "")}
    named = {
        counter: (unit, column)
        for (counter, unit), column in zip(units.items(), columns, strict=True)
    }
    variant = name if isinstance(name, str) else label(name)
    return counters.table(question, variant, "model", named, first=described.FIRST)
