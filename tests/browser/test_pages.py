"""Every page of the book as a reader's browser sees it, without any network.

On a desk, in how many screens it is read, on a telephone, and there in the dark.
"""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from bench.panels import megabytes
from lorelab.book import build
from lorelab.panel import kept
from tests.browser.pages import (
    DESK,
    LENGTH,
    NIGHT,
    PATIENCE,
    TELEPHONE,
    problems,
    served,
)

APPENDIX = {"measured", "faults", "glossary", "bibliography"}
"""Pages of any length, beside those of agreement."""
SAMPLE = [
    (
        "markdown",
        "# Sample\n\nInline $\\sum_i x_i^2$ and\n\n$$\n\\frac{a}{b} = 4\\,\\text{KiB}\n$$",
    ),
    (
        "code",
        "import altair as alt, pandas as pd\n"
        "from lorelab.showing import charts\n"
        "alt.Chart(pd.DataFrame({'x': [1, 2], 'y': [3, 4]})).mark_line().encode(x='x', y='y')",
    ),
    (
        "code",
        "alt.Chart(pd.DataFrame({'x': [1, 2], 'y': [4, 3]})).mark_bar().encode(x='x', y='y')",
    ),
    ("code", "import lorelab\nlorelab.show(charts.theme)"),
    ("code", "pd.DataFrame({'row': range(60)})"),
]


@pytest.fixture(scope="module")
def book():
    with served(built(build.ROOT)) as address:
        yield address


def built(root: Path) -> Path:
    """Build in a thread of its own: Playwright keeps an event loop running in this one."""
    with ThreadPoolExecutor() as thread:
        return thread.submit(build.build, root).result().parent


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A book of one page that has everything a page may have."""
    root = tmp_path_factory.mktemp("sample")
    shutil.copytree(build.ROOT / "book", root / "book")
    (root / "book/_toc.yml").write_text("format: jb-book\nroot: sample\n")
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    page = nbformat.v4.new_notebook(cells=[make[kind](text) for kind, text in SAMPLE])
    (root / "notebooks").mkdir()
    nbformat.write(page, root / "notebooks/sample.ipynb")
    return built(root)


def pages() -> list[str]:
    chapters = [name.removeprefix("notebooks/") for name in build.chapters(build.ROOT)]
    return [name.replace(".ipynb", ".html") for name in chapters]


@pytest.mark.parametrize("page", pages())
def test_every_page_of_the_book(browser, book, page):
    long = page.removesuffix(".html") in APPENDIX or page.endswith("agreement.html")
    looks = (DESK, *(() if long else (LENGTH,)), TELEPHONE, NIGHT)
    assert problems(browser, f"{book}/{page}", looks) == []


@pytest.mark.parametrize("question", kept.panels())
@pytest.mark.usefixtures("book")
def test_a_page_with_its_panel_is_under_2_mb(question):
    """Its HTML with the module and what it shows, Vega, and our scripts; not those of the theme."""
    assert 0 < float(megabytes(question)) < 2


@pytest.mark.parametrize("page", ["index.html", "search.html?q=swap"])
def test_the_first_page_and_a_search(browser, book, page):
    assert problems(browser, f"{book}/{page}") == []


def test_a_page_with_charts_formulas_and_code(browser, sample, tmp_path):
    with served(sample) as address:
        assert problems(browser, f"{address}/sample.html", picture=tmp_path / "sample.png") == []
        page = browser.new_page()
        page.goto(f"{address}/sample.html")
        page.wait_for_selector(".vega-embed svg")
        assert page.locator(".lorelab-chart svg.marks").count() == 2
        assert page.locator("mjx-container").count() == 2
        assert "def theme" in page.locator(".highlight", has_text="def theme").inner_text()


def test_a_chart_is_drawn_in_the_theme_of_its_page_and_as_wide_as_a_telephone(browser, sample):
    letters, line = ".lorelab-chart .role-axis-label text", ".lorelab-chart .mark-line path"
    drawn = "([where, name, value]) => document.querySelector(where)?.getAttribute(name) === value"
    with served(sample) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/sample.html")
        page.wait_for_selector(".vega-embed svg")
        for theme, grey, blue in [
            ("dark", "#d6d6d6", "#4d9cc9"),
            ("light", "#000", "#0072b2"),
            ("dark", "#d6d6d6", "#4d9cc9"),
        ]:
            page.evaluate("to => document.documentElement.dataset.theme = to", theme)
            page.wait_for_function(drawn, arg=[letters, "fill", grey], timeout=PATIENCE)
            page.wait_for_function(drawn, arg=[line, "stroke", blue], timeout=PATIENCE)
        assert page.evaluate(NIGHT.asks) == page.evaluate(DESK.asks) == []
        page.set_viewport_size({"width": 420, "height": 800})
        page.wait_for_function(
            "() => document.querySelector('.lorelab-chart svg').width.baseVal.value < 420",
            timeout=PATIENCE,
        )
        assert page.evaluate(TELEPHONE.asks) == []


def test_of_a_long_table_a_part_is_shown_and_then_all(browser, sample):
    with served(sample) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/sample.html")
        table = page.locator(".lorelab-long:has(table)")
        assert table.bounding_box()["height"] == 20 * 16
        page.get_by_role("button", name="Show all 60 rows").click()
        last = page.locator("table.dataframe tr").last.bounding_box()
        box = page.locator(".text_html:has(table.dataframe)").bounding_box()
        assert last["y"] + last["height"] <= box["y"] + box["height"]
        assert page.get_by_role("button", name="rows").count() == table.count() == 0


def test_what_a_link_or_a_search_leads_to_is_shown(browser, sample):
    place = """name => {
      const [cell] = [...document.querySelectorAll("td")].slice(-1);
      cell.id = name;
      return cell.closest(".lorelab-long") !== null;
    }"""
    shown = '() => !document.querySelector(".lorelab-long table") && scrollY > 0'
    with served(sample) as address:
        page = browser.new_page()
        for name, go in [
            ("there", "() => { location.hash = 'there' }"),
            ("found", "() => document.getElementById('found').scrollIntoView()"),
        ]:
            page.goto(f"{address}/sample.html?{name}")
            assert page.evaluate(place, name)
            page.evaluate(go)
            page.wait_for_function(shown, timeout=PATIENCE)


def test_charts_stand_without_scripts(browser, sample):
    with served(sample) as address:
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{address}/sample.html")
        boxes = [svg.bounding_box() for svg in page.locator(".lorelab-chart svg").all()]
        assert len(boxes) == 2
        assert all(box["width"] > 300 and box["height"] > 200 for box in boxes)


@pytest.mark.parametrize(
    ("look", "body", "says"),
    [
        (DESK, '<script src="https://cdn.example.org/x.js"></script>', "outside request"),
        (DESK, '<script src="missing.js"></script>', "failed request: 404"),
        (DESK, "<script>nothing.here()</script>", "script error"),
        (DESK, '<div class="lorelab-chart" id="c"></div>', "chart not drawn: c"),
        (DESK, '<div class="lorelab-chart"><svg class="marks"></svg></div>', "chart not drawn"),
        (DESK, '<span class="math">\\(x\\)</span>', "formula not drawn"),
        (DESK, '<img src="data:image/png;base64,AAAA">', "image not drawn"),
        (DESK, '<article><div style="width: 3000px">x</div></article>', "page wider"),
        (
            DESK,
            '<article><div style="height: 90px; overflow-y: auto"><p style="height: 99px">x</p>'
            "</div></article>",
            "scrolls within the page: x",
        ),
        (LENGTH, '<p style="height: 10900px">x</p>', "12."),
        (TELEPHONE, '<div style="width: 900px">x</div>', "page is"),
        (
            TELEPHONE,
            '<div class="lorelab-chart"><svg style="width: 100%" viewBox="0 0 900 90">'
            '<text font-size="12" y="20">small</text></svg></div>',
            "5.",
        ),
        (TELEPHONE, '<article><pre style="width: 900px">x</pre></article>', "code outside"),
        (
            TELEPHONE,
            '<div class="lorelab-chart vega-embed" id="c" style="overflow: auto">'
            '<svg width="900" height="90"></svg></div>',
            "chart cut at the side: c",
        ),
        (
            NIGHT,
            "<style>html[data-theme=dark] svg { filter: invert(1) }</style>"
            '<div class="lorelab-chart vega-embed" id="c"><svg></svg></div>',
            "chart inverted: c",
        ),
        (
            NIGHT,
            "<style>html[data-theme=dark] body { background: #121212 }</style>"
            '<div class="lorelab-chart vega-embed"><svg><g class="mark-text role-axis-label">'
            '<text fill="#404040">dim</text></g></svg></div>',
            "hardly read in the dark: dim",
        ),
        (
            NIGHT,
            '<article><div class="cell_output"><p style="background: white; height: 90px">x</p>'
            "</div></article>",
            "white slab: P",
        ),
        (
            NIGHT,
            '<div class="lorelab-chart"><svg><rect fill="white" width="9" height="9"/></svg></div>',
            "white slab: behind",
        ),
        (
            NIGHT,
            "<article><style>html[data-theme=dark] p { background: white }</style>"
            '<div class="cell_output"><p style="height: 90px">x</p></div></article>',
            "white slab: P",
        ),
    ],
)
def test_what_is_wrong_is_seen(browser, tmp_path, look, body, says, monkeypatch):
    """Also on a page that was first open on a desk."""
    monkeypatch.setattr("tests.browser.pages.PATIENCE", 300)
    (tmp_path / "page.html").write_text(
        f"<!doctype html><meta name=viewport content=width=device-width>"
        f"<link rel=icon href=data:,>{body}"
    )
    with served(tmp_path) as address:
        said = problems(browser, f"{address}/page.html", (DESK, look))
        seen = problems(browser, f"{address}/page.html")
    assert any(line.startswith(says) for line in said), said
    assert look is DESK or not any(line.startswith(says) for line in seen)


def test_the_first_page_leads_on_and_asks_for_no_icon():
    # A request for /favicon.ico fails, and one for the book's own is cut off by the next page.
    first = built(build.ROOT)
    named = re.findall(r'(?:href=|url=)"?([^">]+)', (first / "index.html").read_text())
    assert named == ["data:,", "start.html"]
    assert (first / named[1]).is_file()
