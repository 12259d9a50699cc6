"""Decks of reveal.js out of the notebooks: one a chapter, and one across all chapters.

A deck is one HTML file that needs no network: reveal.js comes out of sphinx-revealjs, Vega out of
vl-convert, MathJax, where a deck has formulas, out of sphinx-mathjax-offline.
"""

from collections.abc import Collection, Iterable
from importlib import metadata
from importlib.resources import files
from pathlib import Path

import jinja2
import yaml
from nbformat import NotebookNode

from lorelab import atomic
from lorelab.book import build
from lorelab.book.chromium import print_
from lorelab.book.slides import PANEL, Slide, markdown, slides
from lorelab.errors import BadInput, RunFailed
from lorelab.showing.chapter_cards import card

PANEL_SCRIPTS = tuple(build.LIBRARY / f"panel/{name}.js" for name in ("panel", "form"))
OVERVIEW = "overview"
"""The deck across all chapters."""


def decks(root: Path = build.ROOT) -> dict[str, list[str]]:
    """The decks that can be made, and the pages of each, in the order of the book.

    A chapter's first page comes last: its slide says what to do, and what to send.
    """
    toc = yaml.safe_load((root / "book/_toc.yml").read_text())
    pages_of: dict[str, list[str]] = {}
    for part in toc["parts"]:
        for page in part["chapters"]:
            design = Path(page["file"]).parent.name
            if design:
                pages_of.setdefault(design, []).append(f"notebooks/{page['file']}.ipynb")
    for pages in pages_of.values():
        pages.sort(key=lambda page: Path(page).stem == "index")
    every = [page for pages in pages_of.values() for page in pages]
    return {OVERVIEW: every, **pages_of}


def talk(names: Collection[str] = (), root: Path = build.ROOT) -> list[Path]:
    """Make decks, all or those of `names`; returns their files, in build/talk.

    Raises
    ------
    BadInput
        A name is no deck's.
    RunFailed
        A notebook failed.
    """
    known = decks(root)
    for name in set(names) - set(known):
        raise BadInput(f"{name}: takes decks, of {', '.join(known)}")
    selected = {name: pages for name, pages in known.items() if not names or name in names}
    needed = [page for page in build.chapters(root) if any(page in of for of in selected.values())]
    notebooks = build.executed(needed, root)
    folder = root / "build/talk"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, pages in selected.items():
        file = folder / f"{name}.html"
        written.append(atomic.write(file, deck(name, [notebooks[page] for page in pages], root)))
    return written


def printed(decks: Iterable[Path]) -> list[Path]:
    """The PDF of each deck, beside it."""
    live = "document.body.dataset.live !== undefined && document.querySelector('.pdf-page')"
    return print_({file.with_suffix(".pdf"): f"{file.as_uri()}?print-pdf" for file in decks}, live)


def deck(name: str, pages: Iterable[NotebookNode], root: Path = build.ROOT) -> str:
    """One deck, as HTML.

    Parameters
    ----------
    name : str
        A design, or `OVERVIEW`, which takes the slides that ask for it.
    pages : iterable of NotebookNode
        With their outputs.
    root : Path
        The checkout.
    """
    chosen = [slide for page in pages for slide in slides(page)]
    if name == OVERVIEW:
        chosen = [slide for slide in chosen if slide.overview]
    # For questions, behind what is told.
    chosen.sort(key=lambda slide: any(PANEL in part for part in slide.parts))
    if not chosen:
        raise RunFailed(f"{name}: no cell of its pages is tagged as a slide")
    shown = "".join(part for slide in chosen for part in (slide.title, *slide.parts, *slide.notes))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(root / "book/deck"), undefined=jinja2.StrictUndefined
    )
    return environment.get_template("deck.html").render(
        title=_caption(name, root),
        opening=markdown.render(_opening(name)),
        stacks=_stacks(chosen),
        formulas=r"\(" in shown or r"\[" in shown,
        css=(root / "book/deck/deck.css").read_text(),
        reveal_css=_reveal("dist/reveal.css"),
        reveal_js=_inline(_reveal("dist/reveal.js")),
        notes_js=_inline(_reveal("plugin/notes/notes.js")),
        vega=_inline(build.vega(root).read_text()),
        panel_js="\n".join(_inline(each.read_text()) for each in PANEL_SCRIPTS if PANEL in shown),
        mathjax=_inline(_mathjax()),
    )


def _stacks(slides: list[Slide]) -> list[list[Slide]]:
    """Slides side by side, each with those below it."""
    stacks: list[list[Slide]] = []
    for slide in slides:
        if slide.below and stacks:
            stacks[-1].append(slide)
        else:
            stacks.append([slide])
    return stacks


def _caption(name: str, root: Path) -> str:
    toc = yaml.safe_load((root / "book/_toc.yml").read_text())
    for part in toc["parts"]:
        if any(Path(page["file"]).parent.name == name for page in part["chapters"]):
            return part["caption"]
    return "Five threads, rerun"


def _opening(name: str) -> str:
    """What stands below a deck's title: the thread, and its question."""
    if name == OVERVIEW:
        return "Linux kernel mailing-list threads as executable notebooks"
    chapter = card(name)
    return f"{chapter.question}\n\n{chapter.named}, {chapter.who}"


def _reveal(name: str) -> str:
    return (files("sphinx_revealjs") / "_static/revealjs" / name).read_text()


def _mathjax() -> str:
    [file] = [
        path
        for path in metadata.files("sphinx-mathjax-offline") or ()
        if path.match("mathjax/tex-svg.js")
    ]
    return file.locate().read_text()


def _inline(script: str) -> str:
    """A script that may stand between script tags."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
