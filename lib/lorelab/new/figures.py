"""What a thread prints and asks: numbers, each with a guess at what it counts; questions; doubts.

Everything here is a proposal. A number is kept as `to be confirmed`, which no check of a claim can
read (`lorelab.judging.threads`), until somebody has looked at its line.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lorelab.new.mail import Message

UNITS = (
    "%", "KiB", "MiB", "GiB", "TiB", "kB", "KB", "MB", "GB", "TB", "K", "M", "G", "bytes", "byte",
    "B", "bits", "bit", "ns", "us", "usec", "usecs", "ms", "msec", "msecs", "s", "sec", "secs",
    "seconds", "second", "min", "minutes", "minute", "hours", "hour", "Hz", "kHz", "MHz", "GHz",
    "KB/s", "KiB/s", "MB/s", "MiB/s", "GB/s", "GiB/s", "KB/sec", "MB/sec", "GB/sec",
    "Mbit/s", "Gbit/s", "Mbits/sec", "Gbits/sec", "Gbytes", "Mbytes", "ops/s", "ops/sec",
    "op/s", "IOPS", "x", "times", "pages", "page", "folios", "slots", "entries", "cycles",
    "cycle", "insns", "instructions", "CPUs", "CPU", "cpus", "cores", "threads", "thread",
    "tasks", "processes", "runs", "iterations", "packets", "faults", "nodes", "zones", "lines",
    "VMAs", "clusters", "bits/sec", "pps", "kpps", "Mpps", "bps", "Kbps", "Mbps", "Gbps",
    "\u00b5s", "\u03bcs",  # the micro sign, and the letter mu
)  # fmt: skip
"""Of a number that a blank parts from its unit; one that stands right behind it is any."""
_KNOWN = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
NUMBER = re.compile(
    rf"""(?<![\w.,/#~^@$+-])(?<![^A-Za-z_)]:)[~]?
    (?:(?P<minutes>\d+)m(?=\d+\.\d+s\b)  # as time(1) has it
    |(?P<low>\d+(?:\.\d+)?)(?:%|[A-Za-z\u00b5\u03bc]{{1,4}})?-(?=\d))?
    (?P<value>[+-]?(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:[\xa0\u202f]\d{{3}}|\ 000)+|\d+)
    (?:\.\d+)?(?:[eE][+-]?\d+)?)
    (?P<unit>\s(?:(?:{_KNOWN})(?:/[A-Za-z]+)?|[A-Za-z]+/s(?:ec)?)(?![\w/])
    |(?!(?:st|nd|rd|th)\b)%?[A-Za-z\u00b5\u03bc]*(?:(?<=[^\d.])/[A-Za-z]+)?)
    (?![\w/:@]|\.\d|,\d{{3}}|-\d)""",
    re.X,
)
"""A number and its unit; `low` begins a range, which is two numbers."""
NO_FIGURE = re.compile(
    r"\bv?\d+\.\d+(?:\.\d+|-\S+)|\b(?:linux|kernel|v|version|gcc|commit|line|lines|patch|page)"
    r"[ -]?v?\d[\d.]*|\[[^]]*\]|\b(?=\d*[a-f])[0-9a-f]{7,40}\b|https?://\S+|\S+@\S+|\S+\.[chS]:\d+"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d\d?:\d\d\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*,? \d+"
    r"|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d{4}|\b\w+\(\d+\)"
    r"|^\s*(?:\d+[.)]|\(\d+\)|\*) |^.*\|\s+\d+ [+-]*$|^.*\(\d+\):$|^.*\d+ files? changed.*$"
    r"|^Thread overview: .*$|\b0x[0-9a-f]+\b",
    re.I | re.M,
)
"""Numbers that count nothing: releases, dates, links, hashes, points of a list, a diffstat."""
QUESTION = re.compile(r"[^.!?]*\?(?=\s|$)")
DOUBT = re.compile(
    r"\b(?:NAK|Nacked|I (?:do not|don't) (?:think|see|like|understand|believe)|not convinced|"
    r"I doubt|I wonder|I'm worried|my concern|concerned|objection|disagree|"
    r"this (?:breaks|is wrong)|regression|instead of|why not|but (?:that|this|it)|However,)\b",
    re.I,
)
WORD = re.compile(r"\(?[A-Za-z_][\w/()-]*")
LABEL = re.compile(r"(\d\S*[A-Za-z]\S*): ?$")
"""A label that begins with a digit, as `64kB/swpout:`, at the end of what is before a number."""
NAMED = re.compile(r"(?<=\()[^()]+(?=\))|(?<=-)[^\s-]+(?=-(?:[\s,]|$))")
"""What may be a unit in the name of a row or a column: in brackets, or as mmtests has it."""
LONGEST = 200
"""Characters of a sentence that a row quotes."""
WORDS = 8
"""Words before a number that a guess is made of."""


class Figure(NamedTuple):
    """A printed number."""

    message: Message
    line: int
    value: float
    unit: str
    """As printed; `count` where nothing is."""
    quantity: str
    """A guess: the words before it, or row and column of its table."""
    quoted: bool = False
    """Whether it stands in a quote of a message that the thread's file does not have."""


class Sentence(NamedTuple):
    """A question, or a doubt, of somebody."""

    message: Message
    line: int
    text: str
    kind: str
    """`question` or `objection`."""


def figures(messages: list[Message]) -> list[Figure]:
    """Every number that a message prints, or quotes from a message that is not among these.

    Examples
    --------
    >>> lines = ((7, "It takes 12 ms with 64 pages, not 3."),)
    >>> message = Message("1@example.org", "A. Writer", None, "[PATCH] tiny", lines)
    >>> [(figure.value, figure.unit) for figure in figures([message])]
    [(12.0, 'ms'), (64.0, 'pages'), (3.0, 'count')]
    """
    own = {line.strip() for message in messages for _, line in message.lines}
    flagged = []
    for message in messages:
        elsewhere = [(at, line) for at, line in message.quoted if line.strip() not in own]
        own.update(line.strip() for _, line in elsewhere)
        flagged += _figures(message, message.own)
        flagged += (one._replace(quoted=True) for one in _figures(message, elsewhere))
    return flagged


def sentences(messages: list[Message]) -> list[Sentence]:
    """Questions and objections that a message has itself.

    Examples
    --------
    >>> lines = ((7, "I doubt that. Why 64 pages? It is fine."),)
    >>> message = Message("1@example.org", "A. Writer", None, "[PATCH] tiny", lines)
    >>> [(sentence.kind, sentence.text) for sentence in sentences([message])]
    [('objection', 'I doubt that.'), ('question', 'Why 64 pages?')]
    """
    flagged = []
    for message in messages:
        for line, paragraph in _paragraphs(message):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", paragraph):
                kind = "question" if sentence.endswith("?") else "objection"
                if kind == "question" or DOUBT.search(sentence):
                    flagged.append(Sentence(message, line, _shortened(sentence), kind))
    return flagged


def _figures(message: Message, lines: Iterable[tuple[int, str]]) -> Iterator[Figure]:
    heading: list[tuple[int, str]] = []
    for line, text in lines:
        clean = NO_FIGURE.sub(lambda cut: " " * len(cut[0]), text)
        numbers = list(NUMBER.finditer(clean))
        words = _columns(text)
        if len(words) > 1 and not numbers:
            heading = words if re.search("[A-Za-z]", text) else heading  # else a rule below it
        elif len(words) == 1 and " " in words[0][1]:
            heading = []  # prose
        for number in numbers:
            table = heading and _is_row(text, len(numbers))
            guess = _cell(text, number.start(), heading) if table else _before(text, number.start())
            unit = number["unit"].strip() or (table and _named(guess)) or "count"
            for value in _values(number):
                yield Figure(message, line, value, unit, guess or "number")


def _values(number: re.Match[str]) -> list[float]:
    """One, or the two of a range."""
    value = float(re.sub(r"[,\s]", "", number["value"]))
    if number["minutes"]:
        return [60 * float(number["minutes"]) + value]
    return [float(number["low"]), value] if number["low"] else [value]


def _is_row(text: str, numbers: int) -> bool:
    """Whether a line is one of a table: begun by |, or of columns that blanks, tabs or | part."""
    return text.lstrip().startswith("|") or (numbers > 1 and len(_columns(text)) > 2)


def _columns(text: str) -> list[tuple[int, str]]:
    """Where each column of a line ends, and its text."""
    return [(cell.end(), cell[0]) for cell in re.finditer(r"\S+(?: \S+)*", text.replace("|", "  "))]


def _cell(text: str, at: int, heading: list[tuple[int, str]]) -> str:
    """Name of the row, and of the column that ends nearest."""
    (first_end, first), *_ = _columns(text)
    row = first if at >= first_end and re.search("[A-Za-z]", first) else _before(text[:at], at)
    end = at + len(re.match(r"\S*", text[at:])[0])
    column = min(heading, key=lambda one: abs(one[0] - end))[1]
    return f"{row}, {column}".strip(", ")


def _named(name: str) -> str:
    """The unit that a row or a column names, as `time (us)` or `SeqRead-MB/sec-`; else empty."""
    return next((unit for unit in NAMED.findall(name) if unit in UNITS), "")


def _before(text: str, at: int) -> str:
    """Words between a number and the one before it, or, where there are none, around it."""
    near = re.split(r"\d[\d.,]*\S*", text[:at])[-1]
    words = WORD.findall(near) or LABEL.findall(text[:at]) or WORD.findall(text)
    return " ".join(words[-WORDS:])


def _paragraphs(message: Message) -> Iterator[tuple[int, str]]:
    first, lines = 0, []
    for line, text in [*message.own, (0, "")]:
        if text.strip():
            first = first if lines else line
            lines.append(text.strip())
        elif lines:
            yield first, " ".join(lines)
            lines = []


def _shortened(sentence: str) -> str:
    words = " ".join(sentence.split())
    return words if len(words) <= LONGEST else words[: LONGEST - 3].rsplit(" ", 1)[0] + " ..."
