"""Numbers in prose: each is in an output, the code or the parameters of its page, or says whence.

A number counts if it has a unit, a per cent sign, or three digits and more; years, versions, and
what stands in code, formulas and addresses do not. It is backed where the page itself has it, in a
code cell or in what one printed, where its sentence links to a message, a commit or a source file,
and where a mark closes its sentence, or follows it there:

    <!-- row: tldr-rec-runtime -->                  the figure of that row of data/threads
    <!-- 1,000 from: CONFIG_HZ of lab.config -->    numbers that are from elsewhere, and whence

A mark vouches for the numbers that it names, in its sentence, and for no other. One that names a
number which the sentence has not is itself told of.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lorelab.judging.threads import figures

UNITS = (
    "%|per cent|[KMGT]i?B|kB|bytes?|B|bits?|[mun]s|µs|s|min|seconds?|minutes?|hours?|days?|MB/s|"
    "Mbit/s|Gbit/s|Hz|pages?|folios?|slots?|clusters?|regions?|windows?|checks?|samples?|runs?|"
    "boots?|times|iterations?|instructions?|draws?|threads?|CPUs|messages?|patches|lines?|entries|"
    "invalidations?|states?|faults?|segments?|packets?|copies|completions?|allocations?|resets?|"
    "passes|zones?|events?"
)
NUMBER = re.compile(
    rf"(?<![\w.,/§-])[-\u2212]?(\d{{1,3}}(?:,\d{{3}})+|\d+)(\.\d+)?(?![\w]|[.,]\d)(\s*(?:{UNITS})(?!\w))?"
)
ANY = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|0x[0-9a-f]+")
NAMED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
NOT_PROSE = re.compile(
    r"```.*?```|<!--.*?-->|\$\$.*?\$\$|\$[^$\n]+\$|`[^`]*`"
    r"|(?<=\])\([^)]*\)|\S+://\S+|(?:Linux|version|v) ?\d\S*",
    re.DOTALL,
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
MARK = re.compile(r"<!-- (?:row: (\S+)|([\d., ]+) from: .+?) -->", re.DOTALL)
ASSERT = re.compile(r"\s*<!-- assert: (.+?) -->", re.DOTALL)
"""Of `lorelab.book.compared`; it has no numbers to vouch for."""
MARKS = re.compile(rf"(?:\s*{MARK.pattern})+", re.DOTALL)
SOURCES = r"lore\.kernel\.org|git\.kernel\.org|elixir\.bootlin\.com|mail\.spinics\.net"
LINK = re.compile(rf"\]\(https?://(?:{SOURCES})/")
SENTENCE = re.compile(r"(?<=[.!?:;|])[*)]*\s+|\n(?=\s*(?:[-*]|\d+\.)\s)")


class Unbacked(NamedTuple):
    """A number that nothing on its page backs, or a mark for none of its sentence's."""

    page: Path
    number: str
    context: str

    def __str__(self) -> str:
        return f"{self.page}: {self.number!r} in: {self.context}"


def unbacked(page: Path) -> Iterator[Unbacked]:
    """Numbers in the prose of a notebook that neither the page nor a mark backs.

    Parameters
    ----------
    page : Path
        A notebook with its outputs; the name of its folder is the design's.
    """
    cells = json.loads(page.read_text())["cells"]
    backed = _numbers("\n".join(_computed(cell) for cell in cells if cell["cell_type"] == "code"))
    for cell in cells:
        if cell["cell_type"] == "markdown":
            # First, for a full stop or a colon in quoted text ends no sentence.
            prose = ASSERT.sub("", CODE.sub("``", "".join(cell["source"])))
            for paragraph in prose.split("\n\n"):
                yield from _paragraph(page, paragraph, backed)


def _paragraph(page: Path, paragraph: str, backed: set[float]) -> Iterator[Unbacked]:
    start = 0
    for marks in MARKS.finditer(paragraph):
        *before, own = SENTENCE.split(paragraph[start : marks.start()])
        for sentence in before:
            yield from _sentence(page, sentence, backed, {})
        yield from _sentence(page, own, backed, _named(page, marks[0]))
        start = marks.end()
    for sentence in SENTENCE.split(paragraph[start:]):
        yield from _sentence(page, sentence, backed, {})


def _sentence(
    page: Path, sentence: str, backed: set[float], named: dict[str, float]
) -> Iterator[Unbacked]:
    prose = NOT_PROSE.sub(" ", sentence)
    idle = dict(named)
    for match in NUMBER.finditer(prose):
        whole, decimals, unit = match.groups()
        digits = (whole.replace(",", "") + (decimals or "")).lstrip("0.")
        value = float(whole.replace(",", "") + (decimals or ""))
        few = len(digits.replace(".", "")) < 3
        places = len(decimals or ".") - 1
        per_cent = "%" in (unit or "") or "per cent" in (unit or "")
        vouched = {n: v for n, v in named.items() if _found(value, places, per_cent, {v})}
        idle = {n: v for n, v in idle.items() if n not in vouched}
        if not unit and (few or _year(whole, decimals) or _version(whole, decimals)):
            continue
        if not (vouched or LINK.search(sentence) or _found(value, places, per_cent, backed)):
            around = prose[max(0, match.start() - 50) : match.end() + 30]
            yield Unbacked(page, match[0].strip(), " ".join(around.split()))
    for name in idle:
        yield Unbacked(page, name, f"a mark after: {' '.join(prose.split())[-80:]}")


def _named(page: Path, marks: str) -> dict[str, float]:
    """What marks vouch for: values by the rows' names, or by how a mark writes them."""
    named = {}
    for row, numbers in MARK.findall(marks):
        if row:
            named[row] = abs(figures(page.parent.name)["value"].get(row, float("nan")))
        named |= {number: float(number.replace(",", "")) for number in NAMED.findall(numbers)}
    return named


def _found(value: float, decimals: int, per_cent: bool, among: set[float]) -> bool:
    """Whether the page has the number, or, for three digits and more, one that rounds to it."""
    if value in among or (per_cent and round(value / 100, decimals + 2) in among):
        return True
    digits = len(f"{value:.{decimals}f}".replace(".", "").lstrip("0"))
    return digits >= 3 and any(round(number, decimals) == value for number in among)


def _year(whole: str, decimals: str | None) -> bool:
    return decimals is None and "," not in whole and 1990 <= int(whole) <= 2030


def _version(whole: str, decimals: str | None) -> bool:
    """Of a kernel, from 3.0 to 7.99."""
    return decimals is not None and whole in "34567" and len(decimals) <= 3


def _computed(cell: dict) -> str:
    texts = ["".join(cell["source"]).replace("_", "")]
    for output in cell["outputs"]:
        texts.append("".join(output.get("text", "")))
        for kind, data in output.get("data", {}).items():
            if kind.endswith("+json"):
                continue  # data, which no reader sees
            text = "".join(data) if isinstance(data, list | str) else ""
            if kind == "text/html":
                text = re.sub(r"<script.*?</script>|<[^>]+>", " ", text, flags=re.DOTALL)
            texts.append(html.unescape(text))
    return "\n".join(texts)


def _numbers(text: str) -> set[float]:
    return {
        float(int(word, 16)) if word.startswith("0x") else float(word.replace(",", ""))
        for word in ANY.findall(text)
    }
