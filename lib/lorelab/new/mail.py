"""The messages of a thread: from an mbox, from one mail, or from a page saved from an archive.

Mail is read by the standard library's `email`. A page of lore.kernel.org (or of any other
public-inbox) that was saved as text has no Message-IDs: there a message is known by its time.
"""

import email
import email.policy
import gzip
import io
import re
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from lorelab import user_text
from lorelab.errors import BadInput

LARGEST = 32 << 20
"""Bytes of a thread that is read: more than any thread has."""
HTML = re.compile(r"\s*<(?:!doctype\s+)?html\b", re.I)
INSTEAD = "give an mbox, a mail, or the text of an archive's page"
ENVELOPE = re.compile(rb"(?:\A|(?<=\n\n))From [^\n:]+[^\n]*\d\d:\d\d[^\n]*\n")
"""Line before each mail of an mbox, which an empty line separates from the one before."""
HEADER = re.compile(rb"[A-Za-z][A-Za-z-]*:")
MENU = re.compile(r"(?P<menu>(?:.*\n){1,6}?)From: .*<.*@.*>\n(?:.+\n)*?Subject: ")
"""What a page of one message has above its headers."""
LINKS = re.compile(r"[ \t]+(?:\[[a-z ]+\]|\(raw\))$", re.M)
"""Links that such a page has behind its headers."""
POSTED = re.compile(r"^From: (?P<author>.+?) @ (?P<date>\d{4}-\d\d-\d\d +\d?\d:\d\d) UTC.*$", re.M)
"""Head of a message on a page of public-inbox."""
BESIDE = re.compile(r"^(?:\s+.*|To: .*|Cc: .*|In-Reply-To: .*|)$")
"""What a page has between the head of a message and its text."""
NOT_OWN = re.compile(
    r"\s*(?:>|\|(?!.*\|))|On .{10,}(?:wrote|writes):$|\S+ writes:$|[A-Z][\w-]*-by: |Link: |Fixes: "
)
QUOTED = re.compile(r"\s*>(?:\s?>)*(?!\s?(?:[-+@>]|\t|diff |index |On ))\s?(?P<text>.*)$")
"""A line of a quote, but of a diff's, or of who wrote what."""
END = re.compile(r"-- $|---$|diff --git |@@ |Index: |_{10,}$|\^ permalink |\^ \[flat\|")


class Message(NamedTuple):
    """One message of a thread."""

    id: str
    """Message-ID without its brackets; empty where the file has none."""
    author: str
    date: datetime | None
    """When it was sent, UTC."""
    subject: str
    lines: tuple[tuple[int, str], ...]
    """Its text, each line with its number: in the message of a mail, on the page of an archive."""

    @property
    def own(self) -> tuple[tuple[int, str], ...]:
        """The lines that are its author's: nothing quoted, no tag, no diff, no signature."""
        kept = []
        for number, line in self.lines:
            if END.match(line):
                break
            if not NOT_OWN.match(line):
                kept.append((number, line))
        return tuple(kept)

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        """The lines that it quotes, without their marks."""
        marked = ((number, QUOTED.match(line)) for number, line in self.lines)
        return tuple((number, mark["text"]) for number, mark in marked if mark)

    @property
    def posted(self) -> str:
        """Its time as tables show it, empty where it has none."""
        return "" if self.date is None else f"{self.date:%Y-%m-%d %H:%M} UTC"

    @property
    def name(self) -> str:
        """What it is cited by: its Message-ID, else its time."""
        return self.id or self.posted


def read(file: Path) -> list[Message]:
    """The messages of a file, in its order; one that the file has twice comes once.

    Parameters
    ----------
    file : Path
        An mbox, a mail, or text saved from an archive, in UTF-16 as well; each may be compressed
        with gzip.

    Returns
    -------
    list of Message
        At least one.

    Raises
    ------
    BadInput
        It can't be read, has more than 32 MiB, or has no message.
    """
    data = _bytes(file)
    text = data.decode(errors="replace")
    if ENVELOPE.match(data):
        messages = [_mail(part) for part in ENVELOPE.split(data) if part.strip()]
    elif HTML.match(text):
        raise BadInput(f"{file} is HTML; save the page as text, or give the mbox of its thread")
    elif POSTED.search(text):
        messages = _page(text)
    else:
        messages = _alone(text, data)
    once = {(one.name, one.author, one.subject): one for one in messages if one.author}
    if not once:
        raise BadInput(f"{file} has no message; {INSTEAD}")
    return list(once.values())


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as opened:
                data = opened.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise BadInput(f"{file} is no whole gzip file; {INSTEAD}") from None
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}; {INSTEAD}") from None
    if len(data) > LARGEST:
        raise BadInput(f"{file} has more than {LARGEST >> 20} MiB; give one thread of it")
    return user_text.newlines(user_text.narrow(data))


def _alone(text: str, data: bytes) -> list[Message]:
    """One mail, or a page that shows one."""
    if HEADER.match(data):
        return [_mail(data)]
    if not (menu := MENU.match(text)):
        return []
    page = text[menu.end("menu") :]
    head, _, body = page.partition("\n\n")
    mail = _mail(f"{LINKS.sub('', head)}\n\n{body}".encode())
    above = text.count("\n", 0, menu.end("menu")) + head.count("\n") + 2
    return [mail._replace(lines=tuple((number + above, line) for number, line in mail.lines))]


def _mail(data: bytes) -> Message:
    mail = email.message_from_bytes(data, policy=email.policy.default)
    _decode(mail)
    text = _text(mail).replace("\r\n", "\n")
    return Message(
        _header(mail, "Message-ID").strip("<> "),
        _author(mail),
        _date(mail),
        _header(mail, "Subject"),
        tuple(enumerate(text.split("\n"), 1)),
    )


def _decode(mail: EmailMessage) -> None:
    """Read bytes beyond ASCII in a header, which names no charset, in that of the text."""
    charset = (mail.get_body(("plain", "html")) or mail).get_content_charset("utf-8")
    for name, raw in list(mail.raw_items()):
        octets = raw.encode("utf-8", errors="surrogateescape")
        if not raw.isascii() and name.lower() in ("from", "subject"):
            with suppress(LookupError, ValueError):  # no such charset, or another
                mail.replace_header(name, " ".join(octets.decode(charset).split()))


class _Html(HTMLParser):
    """What a browser shows of a mail, nearly: its text, a line for each block."""

    BLOCKS = ("br", "p", "div", "tr", "li", "pre", "blockquote", "h1", "h2", "h3")
    UNSEEN = ("style", "script", "title")

    def __init__(self) -> None:
        super().__init__()
        self.text, self.unseen = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.unseen += tag in self.UNSEEN
        self.text += "\n" * (tag in self.BLOCKS)

    def handle_endtag(self, tag: str) -> None:
        self.unseen = max(0, self.unseen - (tag in self.UNSEEN))
        self.text += "\n" * (tag == "p")

    def handle_data(self, data: str) -> None:
        self.text += "" if self.unseen else data


def _shown(page: str) -> str:
    html = _Html()
    html.feed(page)
    html.close()
    return html.text


def _text(mail: EmailMessage) -> str:
    """Its plain text, whatever charset it says or has; of a mail that has none its HTML's."""
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    text = _content(part)
    return _shown(text) if part.get_content_subtype() == "html" else text


def _content(part: EmailMessage) -> str:
    if part.get_content_charset("us-ascii") == "us-ascii":  # says nothing of the letters beyond
        part.set_param("charset", "utf-8")
    try:
        return part.get_content()
    except (LookupError, ValueError):  # no such charset
        return part.get_payload(decode=True).decode("utf-8", errors="replace")


def _header(mail: EmailMessage, name: str) -> str:
    """A header on one line; what no parser reads is empty."""
    try:
        return " ".join(str(mail[name] or "").split())
    except (ValueError, IndexError, AttributeError):  # what email raises for broken ones
        return ""


def _author(mail: EmailMessage) -> str:
    try:
        first = mail["From"].addresses[0]
    except (AttributeError, IndexError, TypeError, ValueError):
        return _header(mail, "From")
    name = first.display_name or first.addr_spec
    # Bytes beyond ASCII, which a header should not have, come as halves of surrogate pairs.
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _date(mail: EmailMessage) -> datetime | None:
    try:
        sent = mail["Date"].datetime
    except (AttributeError, TypeError, ValueError):
        return None
    if sent is None:
        return None
    return sent.replace(tzinfo=UTC) if sent.tzinfo is None else sent.astimezone(UTC)


def _page(text: str) -> list[Message]:
    lines = text.split("\n")
    heads = [(number, head) for number, line in enumerate(lines) if (head := POSTED.match(line))]
    ends = [_title(lines, number)[0] for number, _ in heads[1:]] + [len(lines)]
    messages = []
    for (number, head), end in zip(heads, ends, strict=True):
        first = number + 1
        while first < end and BESIDE.match(lines[first]):
            first += 1
        messages.append(
            Message(
                "",
                head["author"],
                datetime.strptime(head["date"], "%Y-%m-%d %H:%M").replace(tzinfo=UTC),
                _title(lines, number)[1],
                tuple((at + 1, lines[at]) for at in range(first, end)),
            )
        )
    return messages


def _title(lines: list[str], head: int) -> tuple[int, str]:
    """Where a message begins whose head is at `head`, and its subject: the nearest title before."""
    for at in range(head - 1, max(head - 30, -1), -1):
        if lines[at].startswith("* "):
            return at, lines[at][2:]
    return head, ""
