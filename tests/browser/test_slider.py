"""A slider moves its picture, in the book and in JupyterLab, and asks nothing of the network."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from lorelab.book import build
from tests.browser.pages import PATIENCE, problems, served
from tests.browser.test_pages import built

CELLS = [
    """import altair as alt
import pandas as pd
from lorelab.showing import charts""",
    """rows = [{"step": s, "place": p, "used": s > p} for s in (0, 5, 10) for p in range(10)]
squares = alt.Chart(pd.DataFrame(rows), title="Squares").mark_rect().encode(
    x="place:O", color=alt.Color("used", scale=alt.Scale(domain=[False, True]))
)
charts.slider(squares, "step", 5, "written")""",
    """squares.transform_filter('datum.step === 10')""",
]
LIVE = """() => {
  const found = [...document.querySelectorAll(".lorelab-chart")];
  return found.length === 2 && found.every(chart => chart.classList.contains("vega-embed"));
}"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A checkout whose book is one page with a slider."""
    root = tmp_path_factory.mktemp("slider")
    shutil.copytree(build.ROOT / "book", root / "book")
    (root / "book/_toc.yml").write_text("format: jb-book\nroot: page\n")
    (root / "notebooks").mkdir()
    cells = [nbformat.v4.new_markdown_cell("# Page"), *map(nbformat.v4.new_code_cell, CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    page = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.write(page, root / "notebooks/page.ipynb")
    return root


def moves(page) -> None:
    """The picture starts where it was stored, and follows the slider."""
    chart = page.locator(".lorelab-chart").first
    shows(chart, 5)
    for place in (10, 0):
        chart.locator("input[type=range]").fill(str(place))
        shows(chart, place)


def shows(chart, place: int) -> None:
    """As many squares are used as places before `place`, and the title says so."""
    said = chart.get_by_text(f"written: {place}", exact=True)
    said.wait_for(timeout=PATIENCE, state="attached")
    assert chart.locator(".mark-rect path[fill='#d55e00']").count() == place


def test_in_the_book(browser, root):
    with served(built(root)) as address:
        assert problems(browser, f"{address}/page.html") == []
        page = browser.new_page()
        page.goto(f"{address}/page.html")
        page.wait_for_function(LIVE, timeout=PATIENCE)
        moves(page)


def test_without_scripts_the_telling_step_is_drawn(browser, root):
    with served(built(root)) as address:
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{address}/page.html")
        chart = page.locator(".lorelab-chart").first
        shows(chart, 5)


@contextmanager
def jupyterlab(folder: Path, home: Path):
    """JupyterLab on `folder`, without anything of the user's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    extensions = home / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "lorelab").symlink_to(build.ROOT / "lib/lorelab/labextension")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    settings = {
        "ServerApp.port": port,
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": "",
        "LabApp.extra_labextensions_path": extensions,
        "LabApp.news_url": "None",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    command += [f"--{name}={value}" for name, value in settings.items()]
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(Path.home() / ".cache")}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/api").close()
                break
            except OSError:
                assert server.poll() is None, (home / "log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def test_in_jupyterlab(browser, root, tmp_path):
    asked = []
    with jupyterlab(root / "notebooks", tmp_path) as address:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/lab/tree/page.ipynb", timeout=PATIENCE)
        page.get_by_text(re.compile(r"\| Idle$")).wait_for(timeout=PATIENCE)
        page.locator(".jp-CodeCell").first.click()
        for _ in CELLS:
            page.keyboard.press("Shift+Enter")
        page.wait_for_function(LIVE, timeout=PATIENCE)
        moves(page)
        page.screenshot(path=tmp_path / "lab.png")
        page.close()
    outside = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert outside == []
