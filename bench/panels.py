"""What a panel costs in the browser: its module, its page, and its time beside numba's."""

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.table import Table

from lorelab.book.chromium import FLAGS
from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.panel import kept, show

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
SCRIPT = Path(show.__file__).with_name("panel.js")
RUN = """async ([about, typed]) => {
  const began = performance.now();
  const ran = await lorelabPanel.start(about, typed, () => {}).ran;
  return [lorelabPanel.csv(ran), ran.took, performance.now() - began];
}"""


def speed() -> Table:
    """Time of a run in Chromium against numba's, and until the first result at the defaults."""
    table = Table(title="The model in the page", title_justify="left")
    for column in ("panel", "module, KB", "first result, s", "numba, s", "Chromium, s", "times"):
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
            table.add_row(question, *_row(page, question))
        browser.close()
    return table


def _row(page: Any, question: str) -> list[str]:
    have = kept.kept(question)
    about = show.about(question, have)
    typed = {field["name"]: field["default"] for field in about["fields"]}
    *_, first = page.evaluate(RUN, [about, typed])
    asked = experiment(question)
    larger = asked.Params(**LARGER[question])
    typed |= {name: str(value) for name, value in LARGER[question].items()}
    asked.simulate(larger)  # compiled here
    native, browser = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        counters = asked.simulate(larger)
        native.append(time.perf_counter() - began)
        text, took, _ = page.evaluate(RUN, [about, typed])
        browser.append(took / 1000)
        if text != counters.to_csv(index=False):
            raise RunFailed(f"{question}: Chromium counts other than numba")
    ours, theirs = statistics.median(native), statistics.median(browser)
    return [
        f"{have.size / 1000:.0f}",
        f"{first / 1000:.2f}",
        f"{ours:.2f}",
        f"{theirs:.2f}",
        f"{theirs / ours:.1f}",
    ]
