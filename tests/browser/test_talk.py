"""Every slide of every deck: nothing overflows, no letter under 24 px, nothing from outside."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lorelab.book import build, talk
from lorelab.panel import kept
from tests.browser.pages import PATIENCE

SMALLEST = 23.9
"""Pixels, at 1280 x 720; browsers round."""
READY = "document.body.dataset.live !== undefined && Reveal.isReady()"
GO = """i => {
  const at = Reveal.getIndices(Reveal.getSlides()[i]);
  Reveal.slide(at.h, at.v || 0, 99);
}"""
LOOK = """smallest => {
  const said = [];
  const slide = Reveal.getCurrentSlide();
  const box = slide.getBoundingClientRect();
  const lines = [...slide.querySelectorAll("pre")].map(pre => pre.innerText.split("\\n").length);
  if (slide.scrollHeight > slide.clientHeight + 1) said.push("overflows");
  if (Math.max(0, ...lines) > 14) said.push("a wall of code");
  if (!slide.querySelector("h1, h2").innerText.trim()) said.push("no title");
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const of = walk.currentNode.parentElement;
    if (!text || of.closest("aside, script, style, mjx-assistive-mml")) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    const at = range.getBoundingClientRect();
    if (!at.width) continue;
    const drawn = of.getScreenCTM && of.getScreenCTM();
    const scale = drawn ? Math.hypot(drawn.a, drawn.b) : 1;
    const size = parseFloat(getComputedStyle(of).fontSize) * scale;
    if (size < smallest) said.push(`${size.toFixed(1)} px: ${text}`);
    // A panel's form and chart scroll within it: what has to be on the slide is the panel.
    const shown = (of.closest(".lorelab-panel") || range).getBoundingClientRect();
    if (shown.right > box.right + 1 || shown.bottom > box.bottom + 1 || shown.left < box.left - 1)
      said.push(`outside: ${text}`);
  }
  return said;
}"""


@pytest.fixture(scope="module")
def made():
    """In a thread of its own: Playwright keeps an event loop running in this one."""
    with ThreadPoolExecutor() as thread:
        files = thread.submit(talk.talk).result()
    return {file.stem: file for file in files}


@pytest.mark.parametrize("name", talk.decks(build.ROOT))
def test_every_slide_can_be_read_from_the_back_row(browser, made, name):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    said = []
    page.on("pageerror", lambda error: said.append(f"script error: {error}"))
    page.on("request", lambda asked: said.append(asked.url) if "file:" not in asked.url else None)
    page.goto(made[name].as_uri(), timeout=PATIENCE)
    page.wait_for_function(READY, timeout=PATIENCE)
    number = page.evaluate("Reveal.getTotalSlides()")
    assert number >= (5 if name == "faultaround" else 15)  # the guide's example is small
    for i in range(number):
        page.evaluate(GO, i)
        page.wait_for_timeout(100)
        said += [f"slide {i + 1}: {line}" for line in page.evaluate(LOOK, SMALLEST)]
    page.close()
    assert said == []


def test_a_slider_on_a_slide_moves_its_picture(browser, made):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(made["gso"].as_uri(), timeout=PATIENCE)
    page.wait_for_function(READY, timeout=PATIENCE)
    slider = page.locator("section input[type=range]").first
    chart = slider.locator("xpath=ancestor::div[contains(@class, 'vega-embed')]")
    at = "e => Reveal.slide(Reveal.getIndices(e.closest('section')).h)"
    slider.evaluate(at)
    before = chart.locator("svg").inner_html()
    slider.fill("0")
    page.wait_for_function(
        "([e, was]) => e.innerHTML !== was", arg=[chart.locator("svg").element_handle(), before]
    )
    page.close()


@pytest.mark.parametrize("question", kept.panels())
def test_a_panel_on_a_slide_runs_and_keeps_its_keys(browser, made, question):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(made[question.split("/")[0]].as_uri(), timeout=PATIENCE)
    page.wait_for_function(READY, timeout=PATIENCE)
    panel = page.locator(f"#panel-{question.replace('/', '-')}")
    panel.evaluate("e => Reveal.slide(Reveal.getIndices(e.closest('section')).h)")
    panel.locator("summary").first.click()
    panel.locator("select").first.focus()
    at = page.evaluate("Reveal.getIndices()")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("Reveal.getIndices()") == at
    panel.get_by_role("button", name="Run").click()
    panel.locator(".lorelab-run svg.marks").wait_for(timeout=PATIENCE)
    page.close()
