"""A panel's counters beside the library's, at random points of its whole range."""

import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.table import Table

from lorelab import atomic
from lorelab.book.chromium import FLAGS
from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.lab import cache
from lorelab.panel import kept, show
from lorelab.params import Params
from lorelab.progress import track
from tests.panel.points import points

POINTS = 500
SECONDS = 20
"""That a panel may take for a point."""
PARTS = Path("build/equal")
"""Outcomes of panels that are done: what was stopped goes on behind them."""
SCRIPT = Path(show.__file__).with_name("panel.js")
RUN = """async ([about, typed, seconds]) => {
  const run = lorelabPanel.start(about, typed, () => {});
  const late = setTimeout(run.cancel, 1000 * seconds);
  try {
    return [lorelabPanel.csv(await run.ran), ""];
  } catch (error) {
    return ["", error.message];
  } finally {
    clearTimeout(late);
  }
}"""
OUTCOMES = ("equal", "fails in both", "over 1 GiB", f"over {SECONDS} s", "different")
EQUAL, FAILS, LARGE, LONG, DIFFERENT = OUTCOMES


def outcome(question: str, params: Params, ran: list[str]) -> str:
    """What became of a point: one of `OUTCOMES`.

    The library runs only what the panel ended.

    Parameters
    ----------
    question : str
    params : Params
    ran : list of str
        What `RUN` gives: the counters as CSV, or what the panel says instead.
    """
    counters, said = ran
    if said == "cancelled":
        return LONG
    if said.startswith("out of memory: "):
        return LARGE
    try:
        expected = experiment(question).simulate(params).to_csv(index=False)
    except RunFailed:
        return FAILS if said.startswith("these values do not go together") else DIFFERENT
    return EQUAL if counters == expected else DIFFERENT


def points_in_chromium() -> Table:
    """Outcomes of the points of each panel."""
    table = Table(title=f"Panels, {POINTS} points each", title_justify="left")
    for column in ("panel", *OUTCOMES):
        table.add_column(column, justify="left" if column == "panel" else "right")
    found = shutil.which("chromium")
    if found is None:
        raise RunFailed("no chromium, which runs the panels; as root: apt-get install chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(f"<!doctype html><script>{SCRIPT.read_text()}</script>")
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        page = browser.new_page()
        page.goto(file.as_uri())
        for question in kept.panels():
            counted = _counted(page, question)
            table.add_row(question, *(str(counted.get(each, 0)) for each in OUTCOMES))
        browser.close()
    return table


def _counted(page: Any, question: str) -> dict[str, int]:
    part = PARTS / f"{question.replace('/', '-')}.json"
    have = kept.kept(question)
    drawn = points(question, POINTS, seed=POINTS)
    of = [have.rests_on, SECONDS, cache.digest(json.dumps([typed for _, typed in drawn]))]
    if part.exists():
        done = json.loads(part.read_text())
        if done["of"] == of:
            return done["counted"]
    about = show.about(question, have)
    counted = Counter()
    for params, typed in track(drawn, question):
        became = outcome(question, params, page.evaluate(RUN, [about, typed, SECONDS]))
        counted[became] += 1
        if became == DIFFERENT:
            raise RunFailed(f"{question}: Chromium counts other than the library: {typed}")
    part.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(part, json.dumps({"of": of, "counted": counted}))
    return counted
