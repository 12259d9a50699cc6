"""A panel's counters beside the library's, at random points of its whole range."""

import json
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright
from rich.table import Table

from lorelab import atomic
from lorelab.book.chromium import FLAGS, executable
from lorelab.errors import RunFailed
from lorelab.lab import cache
from lorelab.panel import kept, show
from lorelab.progress import track
from tests.panel.outcomes import EQUAL, FAILS, LARGE, LONG, RUN, outcomes
from tests.panel.points import drawn

POINTS = 500
"""That have to be equal."""
SEED = 500
"""Of the points."""
MOST = 10 * POINTS
"""Points that are tried for it."""
TITLE = f"Panels at random points, drawn until {POINTS} are equal"
SECONDS = 20
"""That a panel may take for a point."""
PARTS = Path("build/equal")
"""Outcomes so far, of each panel a file: what was stopped goes on behind them."""
SCRIPT = Path(show.__file__).with_name("panel.js")
COLUMNS = {EQUAL: EQUAL, FAILS: FAILS, LARGE: LARGE, LONG: f"over {SECONDS} s"}
READ = ("experiment", "counters", "more", "without", "first", "numbers", "variant", "module")
READ_OF_FIELDS = ("name", "kind", "values", "most")
"""What `panel.js` reads of a panel; what a form says of a field it does not."""


class Outcomes(NamedTuple):
    """How many points had which outcome, and what they were run with."""

    of: str
    counted: dict[str, int]


def points_in_chromium() -> Table:
    """Outcomes of the points of each panel, drawn until `POINTS` are equal.

    A point that differs ends it.
    """
    table = Table(title=TITLE, title_justify="left")
    for column in ("panel", *COLUMNS.values(), "rests on"):
        table.add_column(column, justify="right" if column in COLUMNS.values() else "left")
    path = executable("runs the panels")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(f"<!doctype html><script>{SCRIPT.read_text()}</script>")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page()
        page.goto(file.as_uri())
        for question in kept.panels():
            of, counted = _outcomes(page, question)
            table.add_row(question, *(str(counted[each]) for each in COLUMNS), of)
        browser.close()
    return table


def rests_on(question: str) -> str:
    """First digits of a digest of what a panel's outcomes rest on.

    These are its module, the script that runs it with what that reads, and the points, which are
    others where a parameter has another range.
    """
    about = show.about(question, kept.kept(question))
    read = {name: about[name] for name in READ} | {
        "fields": [{name: field.get(name) for name in READ_OF_FIELDS} for field in about["fields"]]
    }
    first = [typed for _, typed in islice(drawn(question, SEED), POINTS)]
    return cache.digest(json.dumps([SCRIPT.read_text(), read, SECONDS, first]))[:12]


def _outcomes(page: Any, question: str) -> Outcomes:
    part = PARTS / f"{question.replace('/', '-')}.json"
    part.parent.mkdir(parents=True, exist_ok=True)
    done = Outcomes(rests_on(question), {each: 0 for each in COLUMNS})
    if part.exists():
        before = Outcomes(**json.loads(part.read_text()))
        done = before if before.of == done.of else done
    about = show.about(question, kept.kept(question))
    left = islice(drawn(question, SEED), sum(done.counted.values()), MOST)
    became = outcomes(question, left, lambda typed: page.evaluate(RUN, [about, typed, SECONDS]))
    for _ in track(range(done.counted[EQUAL], POINTS), question):
        each = ""
        while each != EQUAL:
            each = next(became, "")
            if not each:
                raise RunFailed(f"{question}: of {MOST} points fewer than {POINTS} are equal")
            done.counted[each] += 1
            atomic.write(part, json.dumps(done._asdict()))
    return done
