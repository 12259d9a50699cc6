"""Panels in Firefox, from a file on disk: equal to the library, and drawn.

LORELAB_POINTS=500 takes more than the sample of a run of the tests.
"""

import os

import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.panel import kept, show
from tests.browser.marionette import firefox
from tests.browser.panels import RUN, page_of
from tests.panel.points import points

POINTS = int(os.environ.get("LORELAB_POINTS", "4"))
DRAW = """async id => {
  const panel = document.getElementById(id);
  panel.querySelector("summary").click();
  panel.querySelector("button[type=submit]").click();
  while (!panel.querySelector(".lorelab-run svg.marks")) {
    const line = panel.querySelector(".line");
    if (line.classList.contains("bad")) return line.textContent;
    await new Promise(soon => setTimeout(soon, 50));
  }
  return panel.querySelector(".lorelab-run svg.marks").getBoundingClientRect().height;
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("profile")) as browser:
        browser.goto(page_of(tmp_path_factory.mktemp("page")).as_uri())
        yield browser


@pytest.mark.parametrize("question", kept.panels())
def test_counters_are_those_of_the_library(page, question):
    about = show.about(question, kept.kept(question))
    for params, typed in points(question, POINTS, seed=POINTS):
        try:
            counters = experiment(question).simulate(params).to_csv(index=False)
        except RunFailed:  # in both
            error = page.evaluate(RUN, [about, typed])["error"]
            assert error.startswith("these values do not go together"), typed
        else:
            assert page.evaluate(RUN, [about, typed]) == counters, typed


@pytest.mark.parametrize("question", kept.panels())
def test_a_run_draws_its_chart(page, question):
    assert page.evaluate(DRAW, f"panel-{question.replace('/', '-')}") > 50
