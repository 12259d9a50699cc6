"""The page of findings: a row each, with what is sent of it folded, and every name a link."""

import re
from html import escape
from pathlib import Path

from lorelab.judging import kunit, reproduced, upstream
from lorelab.judging.findings import COMMIT, MESSAGE, NOT_READY, PAGE, Finding
from lorelab.progress import track

ELIXIR = "https://elixir.bootlin.com/linux/v7.3.4/A/ident"
COLUMNS = (
    "finding",
    "measured",
    "known already, and in mainline",
    "what is sent, and how to see it",
)
LINKS = re.compile(
    rf"(?P<page>{PAGE[:-1]}+[^\s).,;])|(?P<message>\b{MESSAGE}\b)|(?P<function>\b_{{0,4}}[a-z]\w*\(\))"
    rf"|(?P<commit>\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d){COMMIT}\b)"
)
FIRST_WORD = re.compile(r"[a-z]+(?:'s)?[ ,:;]")


class Rows:
    """Findings as a table of HTML, a row each.

    Parameters
    ----------
    chosen : list of Finding
        Their effects are computed here.
    """

    def __init__(self, chosen: list[Finding]):
        self.rows = [_row(one) for one in track(chosen, "computing what findings cost")]

    def __repr__(self) -> str:
        return f"{len(self.rows)} findings"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        rows = "\n".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        above = f'<table class="dataframe findings"><thead><tr>{head}</tr></thead>'
        return f"{above}<tbody>\n{rows}\n</tbody></table>"


def linked(text: str) -> str:
    """A text as HTML; functions, messages, commits and addresses are links.

    Examples
    --------
    >>> linked("kmalloc()")
    '<a href="https://elixir.bootlin.com/linux/v7.3.4/A/ident/kmalloc"><code>kmalloc()</code></a>'
    """
    return LINKS.sub(_link, escape(text, quote=False))


def _link(match: re.Match) -> str:
    word = match[0]
    addresses = {
        "page": word,
        "message": f"https://lore.kernel.org/r/{word}",
        "commit": f"https://git.kernel.org/linus/{word}",
        "function": f"{ELIXIR}/{word[:-2]}",
    }
    shown = f"<code>{word}</code>" if match.lastgroup == "function" else word
    return f'<a href="{addresses[match.lastgroup]}">{shown}</a>'


def sentence(text: str) -> str:
    """A text that begins with a capital, unless it begins with a name as code has it.

    Examples
    --------
    >>> sentence("fixed in 4.8"), sentence("mainline's fix"), sentence("herd7 says"), sentence("")
    ('Fixed in 4.8', "Mainline's fix", 'herd7 says', '')
    """
    word = FIRST_WORD.match(text)
    return text[0].upper() + text[1:] if word else text


def _row(one: Finding) -> tuple[str, ...]:
    texts = (one.defect, one.hurts, one.prior_art.text, one.mainline, one.fix, one.effect())
    defect, hurts, known, mainline, fix, effect = (linked(sentence(text)) for text in texts)
    what = f"<b>{one.title}</b><br>{defect}<br><i>Hurts:</i> {hurts}"
    known = f"{known}<br><i>In mainline:</i> {mainline}"
    ready = one.readiness != NOT_READY
    missing = linked(one.not_ready)
    judgement = f"<b>{one.readiness}.</b>" if ready else f"<b>{NOT_READY}:</b> {missing}."
    parts = [f"{judgement} {fix}", f"<code>lorelab {escape(one.command)}</code>"]
    mails = upstream.patches(one.title)
    if mails:
        parts.append(f"<code>lorelab findings {one.title} -o FOLDER</code>")
    if shown := upstream.reproducer(one.title):
        parts.append(_folded(shown.name, shown))
    parts += [_folded(mail.name[:4] + " " + _subject(mail), mail) for mail in mails]
    return what, "<br>".join([effect, *_seen(one)]), known, "<br>".join(parts)


def _seen(one: Finding) -> list[str]:
    """What the reproducer and a kunit test of the patches said of each kernel, a line each."""
    answers = reproduced.recorded(one.title)
    programs = {
        "Reproducer": [answer for answer in answers if answer.published],
        "A program that is not given": [answer for answer in answers if not answer.published],
        "Kunit test": kunit.recorded(one.title),
    }
    lines = [
        f"<i>{program} on {kernel}:</i> <b>{line[:4]}</b>{escape(line[4:])}"
        for program, runs in programs.items()
        for kernel, line in reproduced.by_kernel(runs).items()
    ]
    if alone := upstream.trial(one.title):
        before, after = (output[-1][:4] for output in (alone.before, alone.after))
        lines.append(
            f"<i>With the folder alone, {alone.where[:10]}:</i> <b>{before}</b>, and with its "
            f"patches and no others <b>{after}</b>"
        )
    return lines


def _folded(name: str, file: Path) -> str:
    text = escape(upstream.mail(file), quote=False)
    return f"<details><summary>{escape(name)}</summary><pre>{text}</pre></details>"


def _subject(mail: Path) -> str:
    match = re.search(r"^Subject: \[[^\]]*\] (.*(?:\n .*)*)", upstream.mail(mail), re.MULTILINE)
    return match[1].replace("\n ", " ")
