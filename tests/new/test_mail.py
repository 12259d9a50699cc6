"""Threads in each form that an archive gives them in, and what is no thread."""

import base64
import gzip
import quopri

import pytest

from lorelab.errors import BadInput
from lorelab.new import mail

FIRST = """\
From: Ada Lovelace <ada@example.org>
Date: Mon, 9 Mar 2020 11:23:45 +0100
Subject: [PATCH 0/2] mm: count
  twice
Message-ID: <one@example.org>

It takes 12 ms.
"""
SECOND = """\
From: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>
Date: Mon, 9 Mar 2020 12:00:00 +0000
Subject: Re: [PATCH 0/2] mm: count twice
Message-ID: <two@example.org>
Content-Type: text/plain; charset="{charset}"
Content-Transfer-Encoding: quoted-printable

On Mon, Mar 9, 2020 at 11:23 AM Ada Lovelace wrote:
> It takes 12 ms.

Why so long, Andr=E9?
Reviewed-by: Zo <zoe@example.org>
--=20
Zo
"""
PAGE = """\
linux-mm.kvack.org archive mirror
 help / color / mirror / Atom feed
* [PATCH] mm: count
@ 2014-05-29  9:04 Mel
  0 siblings, 1 reply; 2+ messages in thread
From: Mel @ 2014-05-29  9:04 UTC (permalink / raw)
  To: Andrew
  Cc: Linux-MM,
\tLinux Kernel

It takes 12 ms.

^ permalink raw reply\t[flat|nested] 2+ messages in thread
* Re: [PATCH] mm: count
  2014-05-29  9:04 Mel
@ 2014-05-29 10:00 ` Ann
From: Ann @ 2014-05-29 10:00 UTC (permalink / raw)
  To: Mel

Why?
"""
ALONE = f"linux-mm archive mirror\n help / color / mirror / Atom feed\n{FIRST}".replace(
    "+0100", "+0100\t[thread overview]"
).replace("<one@example.org>", "<one@example.org> (raw)")


def read(folder, data):
    file = folder / "thread"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return mail.read(file)


def mbox(*mails):
    return "".join(f"From mboxrd@z Thu Jan  1 00:00:00 1970\n{one}\n" for one in mails)


def second(charset="iso-8859-1"):
    return SECOND.format(charset=charset)


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_an_mbox(tmp_path, pack, end):
    first, answer = read(tmp_path, pack(mbox(FIRST, second()).replace("\n", end)))
    assert (first.id, first.author) == ("one@example.org", "Ada Lovelace")
    assert first.posted == "2020-03-09 10:23 UTC"
    assert first.subject == "[PATCH 0/2] mm: count twice"
    assert first.lines[0] == (1, "It takes 12 ms.")
    assert answer.author == "Zoë"
    assert [line for _, line in answer.own if line] == ["Why so long, André?"]
    assert answer.own[-1][0] == 4


@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("text", [mbox(FIRST), FIRST, ALONE], ids=["mbox", "mail", "page"])
def test_a_file_that_an_editor_saved_in_another_encoding(tmp_path, text, charset):
    [one] = read(tmp_path, text.encode(charset))
    assert (one.author, one.id) == ("Ada Lovelace", "one@example.org")
    assert "It takes 12 ms." in dict(one.lines).values()


@pytest.mark.parametrize("charset", ["latin-1", "koi8-r", "utf-8", "utf-16"])
@pytest.mark.parametrize("encode", [base64.encodebytes, quopri.encodestring])
def test_a_text_in_another_encoding(tmp_path, encode, charset):
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {{}}\n\n"
    how = {"encodebytes": "base64", "encodestring": "quoted-printable"}[encode.__name__]
    text = "Why 64 p\u0430ges?\n" if charset == "koi8-r" else "Why 64 p\xe4ges?\n"
    begin = FIRST.removesuffix("\nIt takes 12 ms.\n") + head.format(how)
    [one] = read(tmp_path, begin.encode() + encode(text.encode(charset)))
    assert one.lines[0][1] == text.rstrip()


def test_a_message_that_is_there_twice_comes_once(tmp_path):
    assert len(read(tmp_path, mbox(FIRST, second(), FIRST))) == 2


@pytest.mark.parametrize("charset", ["no-such-charset", "utf-8"])
def test_a_charset_that_is_wrong_or_unknown_loses_one_character(tmp_path, charset):
    [one] = read(tmp_path, second(charset))
    assert "Why so long, Andr\N{REPLACEMENT CHARACTER}?" in dict(one.own).values()


@pytest.mark.parametrize("head", ["", "Content-Type: text/plain; charset=us-ascii\n"])
def test_a_name_and_a_text_that_nobody_encoded_are_utf_8(tmp_path, head):
    text = FIRST.replace("Ada Lovelace", "Zo\xeb").replace("\n\nIt takes", f"\n{head}\nZo\xeb has")
    [one] = read(tmp_path, text)
    assert (one.author, one.lines[0][1]) == ("Zo\xeb", "Zo\xeb has 12 ms.")
    [one] = read(tmp_path, text.encode("latin-1"))
    assert (one.author, one.lines[0][1]) == ("Zo\ufffd", "Zo\ufffd has 12 ms.")


@pytest.mark.parametrize("charset", ["euc-kr", "koi8-r", "utf-8"])
def test_a_header_that_nobody_encoded_is_in_the_charset_of_the_text(tmp_path, charset):
    name = "\u041c\u0435\u043b" if charset == "koi8-r" else "\uae40\ubbfc"
    head = f"\nContent-Type: text/plain; charset={charset}\n\n"
    text = FIRST.replace("Ada", name).replace("count", name).replace("\n\n", head)
    [one] = read(tmp_path, text.encode(charset))
    assert one.author == f"{name} Lovelace" and name in one.subject


def test_a_mail_that_is_html_alone_is_read_as_a_browser_shows_it(tmp_path):
    # A head that nothing ends, and an end of a style that nothing began.
    style = "<style>p {width: 7px}</style></style>"
    page = f"<html><head>{style}<body><p>It takes 12&nbsp;ms.</p>Why?"
    text = FIRST.replace("\n\nIt takes 12 ms.", f"\nContent-Type: text/html\n\n{page}")
    [one] = read(tmp_path, text)
    shown = [line for _, line in one.own if line]
    assert shown == ["It takes 12\xa0ms.", "Why?"]
    assert "width" not in str(one.lines)


def test_a_line_that_begins_with_from_ends_no_mail(tmp_path):
    [one] = read(tmp_path, mbox(f"{FIRST}\nFrom here on it is fast.\n"))
    assert "From here on it is fast." in dict(one.lines).values()


def test_a_page_of_many_messages_has_line_numbers_of_the_page(tmp_path):
    first, answer = read(tmp_path, PAGE)
    assert (first.author, first.posted, first.id) == ("Mel", "2014-05-29 09:04 UTC", "")
    assert (first.subject, answer.subject) == ("[PATCH] mm: count", "Re: [PATCH] mm: count")
    lines = PAGE.split("\n")
    for message, text in ((first, "It takes 12 ms."), (answer, "Why?")):
        [at] = [number for number, line in message.own if line]
        assert lines[at - 1] == text


def test_a_page_of_one_message(tmp_path):
    [one] = read(tmp_path, ALONE)
    assert (one.id, one.posted) == ("one@example.org", "2020-03-09 10:23 UTC")
    [at] = [number for number, line in one.own if line]
    assert ALONE.split("\n")[at - 1] == "It takes 12 ms."


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("", "has no message"),
        ("a b c\n" * 9, "has no message"),
        ("Subject: of nobody\n\nText.\n", "has no message"),
        (b"\x7fELF\0\0\0", "has no message"),
        (f"<!DOCTYPE html>\n<html><pre>\n{PAGE}</pre></html>", "is HTML; save the page as text"),
        (f"<html><head></head><pre>\n{PAGE}</pre></html>", "is HTML; save the page as text"),
        (b"\x1f\x8b\x08 cut", "no whole gzip file"),
        (gzip.compress(mbox(FIRST).encode())[:-20], "no whole gzip file"),
        (gzip.compress(bytes(mail.LARGEST + 1)), "has more than 32 MiB"),
    ],
)
def test_what_is_no_thread_is_one_line(tmp_path, data, says):
    with pytest.raises(BadInput, match=says) as refused:
        read(tmp_path, data)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        mail.read(tmp_path / "nothing")
    with pytest.raises(BadInput, match="Is a directory"):
        mail.read(tmp_path)
