"""Words of a dialect that only its authors speak, and what readers of the book are told instead.

In prose, in what outputs say (tables, captions, findings, answers), on slides, and in the help of
commands.
Code and what is quoted as code are left alone.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

INSTEAD = {
    r"mend(?:s|ed|ing)?": "fix",
    r"hang(?:s|ing)?\s+on": "depend on",
    r"ha(?:s|ve) it that": "predict",
    r"roads?": "model, kernel",
    r"doors?": "command",
    r"come(?:s)?\s+around": "wrap",
    r"by the lot": "in batches",
    r"would have been refused": "would be detected",
    r"whoever": "anyone who",
    r"who waits for whom": "which thread waits for which",
    r"in three (?:are|were) cut|(?:are|were|is) cut in three|cut in three": "split three ways",
    r"runs enough": "enough runs",
    r"left to itself": "uncontrolled",
    r"of one's own": "your own",
    r"forgiven": "lost",
}
"""A regular expression of whole words, and the English for it."""
WORD = re.compile("|".join(rf"(?P<w{i}>\b(?:{word})\b)" for i, word in enumerate(INSTEAD)), re.I)
CODE = re.compile(r"```.*?```|<!--.*?-->|`[^`]*`|(?<=\])\([^)]*\)|\S+://\S+", re.DOTALL)
HIDDEN = re.compile(
    r"<tr\b(?:(?!</tr>).)*(?:no verdict yet|to be confirmed).*?</tr>"
    r"|<(script|style|pre|code)\b.*?</\1>|<[^>]+>",
    re.DOTALL,
)
"""A row of a thread that nobody has weighed or confirmed is in its author's words."""


def dialect_words(text: str) -> Iterator[str]:
    """Each word of the dialect in a text without code, with its neighbours and what to write.

    Examples
    --------
    >>> list(dialect_words("What it hangs on is left open."))
    ["'hangs on' (depend on) in: What it hangs on is left open."]
    """
    for match in WORD.finditer(text):
        around = " ".join(text[max(0, match.start() - 40) : match.end() + 30].split())
        yield f"{match[0]!r} ({[*INSTEAD.values()][int(match.lastgroup[1:])]}) in: {around}"


def dialect(page: Path) -> Iterator[str]:
    """What a notebook says in dialect, a line each: its prose, its outputs and its slides."""
    for cell in json.loads(page.read_text())["cells"]:
        if cell["cell_type"] == "markdown":
            texts = [CODE.sub(" ", "".join(cell["source"]))]
        else:
            texts = [text for output in cell["outputs"] for text in _said(output.get("data", {}))]
        texts += [CODE.sub(" ", text) for text in _on_slide(cell)]
        for text in texts:
            yield from (f"{page}: {word}" for word in dialect_words(text))


def _on_slide(cell: dict) -> Iterator[str]:
    """What a cell's metadata puts on its slide, and in the speaker's notes."""
    slide = cell.get("metadata", {}).get("slide", {})
    for name in ("title", "text", "notes"):
        text = slide.get(name, "")
        yield text if isinstance(text, str) else "\n".join(text)


def _said(data: dict) -> Iterator[str]:
    if "text/markdown" in data:
        yield CODE.sub(" ", "".join(data["text/markdown"]))
    if "text/html" in data:
        yield html.unescape(HIDDEN.sub(" ", "".join(data["text/html"])))
    plain = "".join(data.get("text/plain", ""))
    if plain.startswith("Chart:"):
        yield plain
