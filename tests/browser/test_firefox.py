"""Panels in Firefox, from a file on disk: equal to the library, and drawn."""

import pytest

from lorelab.panel import kept, show
from tests.browser.marionette import firefox
from tests.browser.pages import DARK
from tests.browser.panels import page_of
from tests.panel.outcomes import RUN, equal

POINTS, SECONDS = 4, 5
"""Points of a panel that have to be equal, and how long each may take."""
DRAW = """async id => {
  const panel = document.getElementById(id);
  panel.querySelector("details").open = true;
  panel.querySelector(".lorelab-run").replaceChildren();
  panel.querySelector("button[type=submit]").click();
  while (!panel.querySelector(".lorelab-run svg.marks")) {
    const line = panel.querySelector(".line");
    if (line.classList.contains("bad")) return line.textContent;
    await new Promise(soon => setTimeout(soon, 50));
  }
  return panel.querySelector(".lorelab-run svg.marks").getBoundingClientRect().height;
}"""


READABLE = """async () => {
  const until = performance.now() + 10_000;
  let said;
  do {  // charts drawn before the theme changed are drawn anew
    await new Promise(soon => setTimeout(soon, 50));
    said = (DARK)();
  } while (said.length && performance.now() < until);
  return said;
}""".replace("DARK", DARK)
WIDTH = 420
"""Pixels of a telephone; a window of Firefox is never as narrow, a frame is."""
FRAMED = """async ([address, width]) => {
  const frame = document.createElement("iframe");
  frame.width = width, frame.height = 800, frame.src = address;
  document.body.replaceChildren(frame);
  await new Promise(loaded => { frame.onload = loaded; });
}"""
NARROW = """async () => {
  const said = [], wide = document.documentElement.clientWidth;
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  if (document.documentElement.scrollWidth > wide + 1)
    said.push(`page is ${document.documentElement.scrollWidth} px wide`);
  const parts = ".lorelab-panel :is(button, input, select, textarea, a)";
  for (const part of document.querySelectorAll(parts))
    if (part.getBoundingClientRect().right > wide + 1)
      said.push(`outside: ${part.name || part.textContent}`);
  return [wide, said];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("profile")) as browser:
        browser.goto(page_of(tmp_path_factory.mktemp("page")).as_uri())
        yield browser


@pytest.mark.parametrize("question", kept.panels())
def test_counters_are_those_of_the_library(page, question):
    about = show.about(question, kept.kept(question))

    def run(typed):
        return page.evaluate(RUN, [about, typed, SECONDS])

    assert equal(question, POINTS, run) == POINTS


@pytest.mark.parametrize("question", kept.panels())
def test_a_run_draws_its_chart(page, question):
    assert page.evaluate(DRAW, f"panel-{question.replace('/', '-')}") > 50


@pytest.mark.parametrize("question", kept.panels())
def test_what_is_drawn_can_be_read_in_the_dark(page, question):
    page.evaluate("async () => { document.documentElement.dataset.theme = 'dark'; }")
    assert page.evaluate(DRAW, f"panel-{question.replace('/', '-')}") > 50
    assert page.evaluate(READABLE) == []


def test_no_panel_is_wider_than_a_telephone(tmp_path):
    for folder in ("profile", "page"):
        (tmp_path / folder).mkdir()
    with firefox(tmp_path / "profile") as browser:
        file = page_of(tmp_path / "page")
        (file.parent / "frame.html").write_text("<!doctype html><body>")
        browser.goto((file.parent / "frame.html").as_uri())
        browser.evaluate(FRAMED, [file.as_uri(), WIDTH])
        browser.command("WebDriver:SwitchToFrame", {"id": 0})
        for question in kept.panels():
            assert browser.evaluate(DRAW, f"panel-{question.replace('/', '-')}") > 50
        wide, said = browser.evaluate(NARROW)  # less a bar at the side
        assert WIDTH - 20 <= wide <= WIDTH and said == []
