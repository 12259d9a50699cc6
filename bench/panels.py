"""What a panel costs in the browser: its module, its page, and its time beside numba's."""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.table import Table

from lorelab.book import build
from lorelab.book.chromium import FLAGS, executable
from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.panel import kept, show
from tests.browser.panels import page_of

REPEATS = 5
LARGER = {
    "fairzone/tiobench": {"threads": 16},
    "damon/hot-range": {"windows": 200, "min_regions": 1000},
    "swap/holes": {"clusters": 32, "holes": 10_000},
    "swap/allocator-test": {"iterations": 1000},
    "vmalock/contention": {"ms": 1000},
    "vmalock/protocol": {"configuration": "fork", "sequence_bits": 4},
    "gso/lifetimes": {"segments": 4, "cpus": 2},
    "gso/traffic": {"sends": 1_000_000},
}
"""What makes a run long enough to be timed."""
READS = 3
"""Seconds for which a reader looks at the form before the first run."""
TITLE = "The model in the page (bars: module 400 KB, page 2 MB, first chart 1 s, 3 times numba)"
COLUMNS = (
    "panel",
    "module, KB",
    "page, MB",
    "first chart at once, s",
    f"after {READS} s, s",
    "numba, s",
    "Chromium, s",
    "times",
)
FIRST = """async ([id, seconds]) => {
  const panel = document.getElementById(id);
  panel.querySelector("details").open = true;
  await new Promise(soon => setTimeout(soon, 1000 * seconds));
  const began = performance.now();
  panel.querySelector("button[type=submit]").click();
  while (!panel.querySelector(".lorelab-run svg.marks"))
    await new Promise(soon => setTimeout(soon, 5));
  return performance.now() - began;
}"""
RUN = """async ([about, typed]) => {
  const ran = await lorelabPanel.start(about, typed, () => {}).ran;
  return [lorelabPanel.csv(ran), ran.took];
}"""


def speed() -> Table:
    """Time of a run in Chromium against numba's, and until the first chart at the defaults.

    That is of a panel just opened, and of one whose form was read first: meanwhile the panel has
    run what the form shows, and a click draws that (form.js). Of a page count its HTML as the book
    has it, with its outputs and the module, and our scripts; those of the theme do not.
    """
    table = Table(title=TITLE, title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "panel" else "right")
    path = executable("runs the panels")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = page_of(Path(folder))
        launch = partial(playwright.chromium.launch, executable_path=path, args=FLAGS)
        browser = launch()
        for question in kept.panels():
            firsts = [f"{_first(launch, file, question, reads):.2f}" for reads in (0, READS)]
            page = browser.new_page()
            page.goto(file.as_uri())
            size, *times = _row(page, question)
            page.close()
            table.add_row(question, size, megabytes(question), *firsts, *times)
        browser.close()
    return table


def megabytes(question: str, root: Path = build.ROOT) -> str:
    """Size of the first page of the book that has a panel, with the scripts that draw."""
    design = question.split("/")[0]
    for page in sorted((root / "notebooks" / design).glob("*.ipynb")):
        if f'panel(\\"{question}\\"' in page.read_text():
            html = root / f"build/book/{design}/{page.stem}.html"
            if not html.exists():
                raise RunFailed(f"{html} is not there; make book builds it")
            files = (html, build.vega(root), *build.SCRIPTS)
            return f"{sum(file.stat().st_size for file in files) / 1e6:.2f}"
    raise RunFailed(f"no page has a panel of {question}")


def _first(launch: Callable[[], Any], file: Path, question: str, reads: int) -> float:
    browser = launch()  # its own, for pages of one share what was compiled
    page = browser.new_page()
    page.goto(file.as_uri())
    took = page.evaluate(FIRST, [f"panel-{question.replace('/', '-')}", reads])
    browser.close()
    return took / 1000


def _row(page: Any, question: str) -> list[str]:
    have = kept.kept(question)
    about = show.about(question, have)
    typed = {field["name"]: field["default"] for field in about["fields"]}
    asked = experiment(question)
    larger = asked.Params(**LARGER[question])
    typed |= {name: str(value) for name, value in LARGER[question].items()}
    asked.simulate(larger)  # compiled here
    native, browser = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        counters = asked.simulate(larger)
        native.append(time.perf_counter() - began)
        text, took = page.evaluate(RUN, [about, typed])
        browser.append(took / 1000)
        if text != counters.to_csv(index=False):
            raise RunFailed(f"{question}: Chromium counts other than numba")
    ours, theirs = statistics.median(native), statistics.median(browser)
    return [
        f"{have.size / 1000:.0f}",
        f"{ours:.2f}",
        f"{theirs:.2f}",
        f"{theirs / ours:.1f}",
    ]
