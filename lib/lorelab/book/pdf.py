"""The whole book as one PDF: every page printed by Chromium, and joined, in the book's order."""

from pathlib import Path

from pypdf import PdfReader, PdfWriter

from lorelab.atomic import folder as folder_
from lorelab.book import build
from lorelab.book.chromium import print_

DRAWN = """() => document.readyState === "complete"
  && [...document.querySelectorAll(".lorelab-chart")].every(
       chart => !window.vegaEmbed || chart.classList.contains("vega-embed"))
  && [...document.querySelectorAll(".math")].every(math => math.querySelector("mjx-container"))
  && [...document.querySelectorAll("a[href]")].every(link => {
       // A link to another page would name a file of this machine.
       if (link.protocol === "file:" && !link.getAttribute("href").startsWith("#"))
         link.removeAttribute("href");
       return true;
     })"""


def whole(root: Path = build.ROOT) -> Path:
    """Print the book that `lorelab.book.build` made; returns build/talk/book.pdf.

    Its outline has one entry a page, by the page's title.

    Raises
    ------
    RunFailed
        There is no Chromium, or a page is not ready in time.
    """
    names = [Path(name).relative_to("notebooks") for name in build.chapters(root)]
    folder = root / "build/printed"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        folder / f"{'-'.join(name.with_suffix('').parts)}.pdf": (
            root / "build/book" / name.with_suffix(".html")
        ).as_uri()
        for name in names
    }
    writer = PdfWriter()
    for file in print_(pages, DRAWN):
        title = (PdfReader(file).metadata.title or file.stem).partition(" — ")[0]
        writer.append(file, outline_item=title)
    writer.add_metadata({"/Title": "lorelab", "/Author": "the lorelab authors"})
    file_ = root / "build/talk/book.pdf"
    file_.parent.mkdir(parents=True, exist_ok=True)
    with folder_(file_.parent) as part:
        writer.write(part / file_.name)
        return (part / file_.name).replace(file_)
