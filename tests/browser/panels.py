"""A page with every panel, as browsers open it from disk."""

import shutil
from pathlib import Path

from lorelab.book import build
from lorelab.panel import kept, show

RUN = """async ([about, typed]) => {
  const ran = await lorelabPanel.start(about, typed, () => {}).ran;
  return lorelabPanel.csv(ran);
}"""


def page_of(folder: Path) -> Path:
    """Write a page with every panel, beside the scripts of the book."""
    panels = "\n".join(show.panel(each)._repr_mimebundle_()["text/html"] for each in kept.panels())
    shutil.copy(build.vega(build.ROOT), folder / "vega.js")
    shutil.copy(build.LIBRARY / "panel/panel.js", folder)
    scripts = '<script src="vega.js"></script><script src="panel.js"></script>'
    page = folder / "page.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body>{panels}{scripts}')
    return page
