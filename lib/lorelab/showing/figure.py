"""Charts of the pages, as they are stored there, for other people's slides."""

import json
import re
from pathlib import Path

import vl_convert

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
SPEC = re.compile(r"vegaEmbed\(chart, (\{.*?\}), \{actions: false", re.DOTALL)
KINDS = (".svg", ".png", ".pdf")
PNG_SCALE = 3.0
"""Pixels of a PNG for each of the chart's own, enough for a projector."""


def figures(folder: Path = NOTEBOOKS) -> dict[str, dict]:
    """Vega-Lite of every stored chart, by design/page-number, in the order of each page.

    Examples
    --------
    >>> "index-1" in figures(NOTEBOOKS / "gso")
    True
    """
    charts = {}
    for page in sorted(folder.rglob("*.ipynb")):
        texts = (
            "".join(output.get("data", {}).get("text/html", ""))
            for cell in json.loads(page.read_text())["cells"]
            for output in cell.get("outputs", [])
        )
        specs = [match[1] for text in texts if (match := SPEC.search(text))]
        for number, spec in enumerate(specs, start=1):
            name = f"{page.relative_to(folder).with_suffix('')}-{number}"
            charts[name] = json.loads(spec.replace("<\\!--", "<!--"))
    return charts


def title(spec: dict) -> str:
    """What stands above a chart.

    Examples
    --------
    >>> title({"title": {"text": ["Slots that are", "allocated"], "subtitle": "per CPU"}})
    'Slots that are allocated'
    """
    words = spec.get("title", "")
    words = words.get("text", "") if isinstance(words, dict) else words
    return " ".join(words) if isinstance(words, list) else words


def draw(name: str, file: Path, folder: Path = NOTEBOOKS) -> None:
    """Draw a chart into `file`, whose name says how: .svg, .png or .pdf.

    Raises
    ------
    BadInput
        There is no such chart, or `file` ends otherwise.
    RunFailed
        `file` can't be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     draw("index-1", Path(folder, "x.svg"), NOTEBOOKS / "gso")
    ...     Path(folder, "x.svg").read_text()[:4]
    '<svg'
    """
    known = figures(folder)
    if name not in known:
        raise BadInput(f"unknown figure {name}: `lorelab figure` alone lists all")
    if file.suffix not in KINDS:
        raise BadInput(f"-o {file}: takes a name that ends in {', '.join(KINDS)}")
    spec = known[name]
    if file.suffix == ".svg":
        drawn = vl_convert.vegalite_to_svg(spec).encode()
    elif file.suffix == ".png":
        drawn = vl_convert.vegalite_to_png(spec, scale=PNG_SCALE)
    else:
        drawn = vl_convert.vegalite_to_pdf(spec)
    try:
        atomic.write(file, drawn)
    except OSError as error:
        raise RunFailed(f"cannot write {file}: {error.strerror}; give -o another place") from None
