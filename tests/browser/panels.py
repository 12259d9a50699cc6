"""A page with every panel, as browsers open it from disk."""

import shutil
from pathlib import Path

from lorelab.book import build
from lorelab.panel import kept, show

STYLE = build.ROOT / "book/assets/lorelab.css"
THEME = "* { box-sizing: border-box } html[data-theme=dark] body { background: #121212 }"
"""What the book's theme adds."""


def page_of(folder: Path) -> Path:
    """Write a page with every panel, beside the scripts of the book."""
    panels = "\n".join(show.panel(each)._repr_mimebundle_()["text/html"] for each in kept.panels())
    shutil.copy(build.vega(build.ROOT), folder / "vega.js")
    for file in (*build.SCRIPTS, STYLE):
        shutil.copy(file, folder)
    names = ("vega.js", "charts.js", "panel.js", "form.js")
    scripts = "".join(f'<script src="{name}"></script>' for name in names)
    style = f'<link rel="stylesheet" href="{STYLE.name}"><style>{THEME}</style>'
    page = folder / "page.html"
    page.write_text(f'<!doctype html><meta charset="utf-8">{style}<body>{panels}{scripts}')
    return page
