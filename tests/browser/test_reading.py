"""Every page as it is read: on a wide screen, on a telephone, and in the dark."""

import pytest

from lorelab.book import build
from tests.browser.pages import PATIENCE, SETTLED, chromium, served
from tests.browser.test_pages import built, pages

SCREENS = 12
"""Of 1400 x 900, that a page may have, unless it is in the appendix."""
APPENDIX = {"measured", "faults", "glossary", "bibliography"}
NARROW = """smallest => {
  const said = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > document.documentElement.clientWidth + 1) said.push(`page is ${wide} px wide`);
  for (const text of document.querySelectorAll(".lorelab-chart svg text")) {
    if (!text.textContent.trim() || !text.getBoundingClientRect().width) continue;
    const drawn = text.getScreenCTM();
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(drawn.a, drawn.b);
    if (size < smallest) said.push(`${size.toFixed(1)} px: ${text.textContent}`);
  }
  for (const code of document.querySelectorAll("article pre"))
    if (code.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      said.push(`code outside: ${code.textContent.slice(0, 40)}`);
  return said;
}"""
DARK = """() => {
  const light = colour => {
    const [r, g, b, a = 1] = (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return a > 0.5 && Math.min(r, g, b) > 200;
  };
  const said = [];
  for (const part of document.querySelectorAll("article .cell_output *:not(svg *)")) {
    const box = part.getBoundingClientRect();
    if (box.width * box.height > 4000 && light(getComputedStyle(part).backgroundColor))
      said.push(`white slab: ${part.tagName} ${part.className}`);
  }
  for (const slab of document.querySelectorAll(".lorelab-chart svg > rect:first-child"))
    if (light(getComputedStyle(slab).fill)) said.push("white slab: behind a chart");
  return said;
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def book():
    with served(built(build.ROOT)) as address:
        yield address


def opened(browser, address, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address, wait_until="load")
    page.wait_for_function(SETTLED, timeout=PATIENCE)
    return page


@pytest.mark.parametrize("name", pages())
def test_on_a_telephone_and_in_the_dark(browser, book, name):
    page = opened(browser, f"{book}/{name}", 420, 800)
    said = page.evaluate(NARROW, 9.9)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_timeout(300)
    said += page.evaluate(DARK)
    page.close()
    assert said == []


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in pages()
        if name.removesuffix(".html") not in APPENDIX and not name.endswith("agreement.html")
    ],
)
def test_a_page_is_read_in_twelve_screens(browser, book, name):
    page = opened(browser, f"{book}/{name}", 1400, 900)
    height = page.evaluate("document.documentElement.scrollHeight")
    page.close()
    assert height <= SCREENS * 900


@pytest.mark.parametrize(
    ("body", "look", "says"),
    [
        ('<div style="width: 900px">x</div>', NARROW, "page is"),
        (
            '<div class="lorelab-chart"><svg><text font-size="6" y="9">small</text></svg></div>',
            NARROW,
            "6.0 px: small",
        ),
        ('<article><pre style="width: 900px">x</pre></article>', NARROW, "page is"),
        (
            '<article><div class="cell_output"><p style="background: white; height: 90px">x</p>'
            "</div></article>",
            DARK,
            "white slab: P",
        ),
        (
            '<div class="lorelab-chart"><svg><rect fill="white" width="9" height="9"/></svg></div>',
            DARK,
            "white slab: behind",
        ),
    ],
)
def test_what_is_wrong_is_seen(browser, body, look, says):
    page = browser.new_page(viewport={"width": 420, "height": 800})
    page.set_content(f"<!doctype html>{body}")
    said = page.evaluate(look, 9.9)
    page.close()
    assert any(line.startswith(says) for line in said), said
