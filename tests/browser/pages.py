"""Open a page in headless Chromium with the network cut off, and say what is wrong with it."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from tests import lacking

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name but the server's own address leads anywhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
PATIENCE = 120_000
"""Milliseconds for a page to load, or to draw all its charts and formulas: some 3,000 on an idle
machine."""
OPENS = PATIENCE
"""Milliseconds until it is loaded; tests of a page that never settles shorten the other alone."""
LOOK = """() => {
  const drawn = svg => {
    const box = svg.getBoundingClientRect();
    return box.width > 50 && box.height > 20 && svg.querySelector("path, rect, line, text");
  };
  const said = [];
  for (const chart of document.querySelectorAll(".lorelab-chart")) {
    const svg = chart.querySelector("svg.marks");
    if (!svg || !drawn(svg)) said.push(`chart not drawn: ${chart.id}`);
    else if (window.vegaEmbed && !chart.classList.contains("vega-embed"))
      said.push(`chart not live: ${chart.id}`);
  }
  for (const formula of document.querySelectorAll(".math")) {
    const shown = formula.querySelector("mjx-container");
    const box = shown && shown.getBoundingClientRect();
    if (!box || box.width < 1 || box.height < 1)
      said.push(`formula not drawn: ${formula.textContent}`);
    else if (shown.querySelector("mjx-merror, [data-mjx-error]"))
      said.push(`formula in error: ${formula.textContent}`);
  }
  for (const image of document.images)
    if (!image.naturalWidth) said.push(`image not drawn: ${image.src}`);
  if (document.querySelector("article") &&
      document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)
    said.push(`page wider than the window: ${document.documentElement.scrollWidth} px`);
  for (const box of document.querySelectorAll("article *:not(textarea)"))
    if (/auto|scroll/.test(getComputedStyle(box).overflowY) &&
        box.scrollHeight > box.clientHeight + 4)
      said.push(`scrolls within the page: ${box.textContent.trim().slice(0, 40)}`);
  return said;
}"""
NARROW = """() => {
  const said = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > document.documentElement.clientWidth + 1) said.push(`page is ${wide} px wide`);
  for (const text of document.querySelectorAll(".lorelab-chart svg text")) {
    if (!text.textContent.trim() || !text.getBoundingClientRect().width) continue;
    const drawn = text.getScreenCTM();
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(drawn.a, drawn.b);
    if (size < 9.9) said.push(`${size.toFixed(1)} px: ${text.textContent}`);
  }
  for (const chart of document.querySelectorAll(".lorelab-chart.vega-embed:not([data-scrolls])"))
    if (chart.querySelector("svg").getBoundingClientRect().right > innerWidth)
      said.push(`chart cut at the side: ${chart.id}`);
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
  const bright = colour => {
    const parts = (colour.match(/[\\d.]+/g) || [0, 0, 0]).slice(0, 3).map(v => v / 255);
    const [r, g, b] = parts.map(v => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const said = [];
  const below = bright(getComputedStyle(document.body).backgroundColor);
  for (const live of document.querySelectorAll(":is(.lorelab-chart, .lorelab-run).vega-embed")) {
    if (getComputedStyle(live.querySelector("svg")).filter !== "none")
      said.push(`chart inverted: ${live.id || live.className}`);
    for (const text of live.querySelectorAll("[class*=role-axis] text, [class*=role-legend] text"))
      if (bright(getComputedStyle(text).fill) < 4.5 * below)
        said.push(`hardly read in the dark: ${text.textContent}`);
  }
  for (const part of document.querySelectorAll("article .cell_output *:not(svg *)")) {
    const box = part.getBoundingClientRect();
    if (box.width * box.height > 4000 && light(getComputedStyle(part).backgroundColor))
      said.push(`white slab: ${part.tagName} ${part.className}`);
  }
  for (const slab of document.querySelectorAll(".lorelab-chart svg > rect:first-child"))
    if (light(getComputedStyle(slab).fill)) said.push("white slab: behind a chart");
  return said;
}"""
LONG = """() => {
  const screens = document.documentElement.scrollHeight / window.innerHeight;
  return screens > 12 ? [`${screens.toFixed(1)} screens`] : [];
}"""
"""An appendix may be longer."""


class Look(NamedTuple):
    """What is wrong with a page on a screen of `width` times `height` pixels, in a theme."""

    width: int
    height: int
    asks: str
    """JavaScript: a function that gives what is wrong, a line each."""
    theme: str | None = None
    """None leaves the page the one that it has."""


DESK = Look(1280, 900, LOOK)
LENGTH = Look(1400, 900, LONG)
TELEPHONE = Look(420, 800, NARROW)
NIGHT = Look(420, 800, DARK, "dark")
SETTLED = """() => document.readyState === "complete"
  && [...document.querySelectorAll(".lorelab-chart")].every(
       c => !window.vegaEmbed || c.classList.contains("vega-embed"))
  && [...document.querySelectorAll(".math")].every(m => m.querySelector("mjx-container"))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; without it the test is skipped, but in CI fails."""
    found = shutil.which("chromium")
    if found is None:
        lacking("no chromium; as root: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve `folder` on a free local port."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def problems(
    browser: Browser, url: str, looks: tuple[Look, ...] = (DESK,), picture: Path | None = None
) -> list[str]:
    """All that is wrong with the page at `url`, one line each; empty if nothing is.

    It is opened once, on the first of the screens, and then moved to the others.
    """
    said: list[str] = []
    origin = url[: url.index("/", len("http://"))]
    page: Page = browser.new_page(viewport={"width": looks[0].width, "height": looks[0].height})

    def asked(request) -> None:
        if not request.url.startswith((origin, "data:", "blob:")):
            said.append(f"outside request: {request.url}")

    def answered(response) -> None:
        if response.status >= 400:
            said.append(f"failed request: {response.status} {response.url}")

    page.on("request", asked)
    page.on("response", answered)
    page.on("requestfailed", lambda request: said.append(f"failed request: {request.url}"))
    page.on("pageerror", lambda error: said.append(f"script error: {error}"))
    page.on(
        "console",
        lambda line: said.append(f"console error: {line.text}") if line.type == "error" else None,
    )
    page.goto(url, wait_until="load", timeout=OPENS)
    try:
        page.wait_for_function(SETTLED, timeout=PATIENCE)
    except TimeoutError:
        said.append(f"page did not settle in {PATIENCE} ms")
    if picture is not None:
        page.screenshot(path=picture, full_page=True)
    for look in looks:
        if look is not looks[0]:
            page.set_viewport_size({"width": look.width, "height": look.height})
            if look.theme:
                page.evaluate("to => document.documentElement.dataset.theme = to", look.theme)
            page.wait_for_timeout(300)
        said += page.evaluate(look.asks)
    page.close()
    return said
