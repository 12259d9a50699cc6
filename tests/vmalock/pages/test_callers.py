"""The list of callers: all that the source has, and what the finding says of them."""

import re

import pytest

from lorelab.lab import cache
from lorelab.vmalock.pages import callers
from lorelab.vmalock.thread.findings import FINDINGS


def test_each_call_is_listed_once_and_in_order_of_the_lines():
    table = callers.calls()
    assert table["call"].is_unique
    assert table["call"].str.fullmatch(r"[\w/]+\.[ch]:\d+").all()
    lines = table["call"].str.extract(r"(?P<file>.*):(?P<line>\d+)").astype({"line": int})
    assert lines.groupby("file")["line"].apply(lambda file: file.is_monotonic_increasing).all()
    assert callers.counted().sum() == len(table)
    before = table.loc[table["flags"] != "", "call"]
    assert before.tolist() == list(callers.FLAGS_BEFORE)


SOURCE = cache.root() / "kernel/prepared/linux-source-7.3.tar.xz/source"
CALL = re.compile(r"\bvma_start_write(?:_killable)?\(")
DEFINES = re.compile(r"^(?:static |void |int |__must_check |inline )|^\s*(?:\*|//|/\*|#)")


def calls_in(text):
    """Lines of a file with a call; no comment, definition or declaration."""
    lines = enumerate(text.splitlines(), 1)
    return [n for n, line in lines if CALL.search(line) and not DEFINES.match(line)]


def test_calls_are_told_from_what_is_none():
    text = "static inline void vma_start_write(struct vm_area_struct *vma)\n{\n"
    text += (
        " * vma_start_write() is\n\terr = vma_start_write_killable(vma);\n\tvma_start_write(a);\n"
    )
    assert calls_in(text) == [4, 5]


@pytest.mark.skipif(not SOURCE.exists(), reason="no unpacked source of 7.3 here")
def test_every_call_of_the_source_is_listed():
    found = set()
    for file in SOURCE.rglob("*.[ch]"):
        name = str(file.relative_to(SOURCE))
        if not name.startswith("tools/"):
            text = file.read_bytes()
            if b"vma_start_write" in text:
                found |= {f"{name}:{n}" for n in calls_in(text.decode(errors="replace"))}
    assert found == {call for call, *_ in callers.CALLS}


def test_the_finding_counts_the_calls_that_look_where_a_reader_stores():
    [finding] = (one for one in FINDINGS if one.name == "no-acquire")
    reads = callers.calls()["reads next"]
    tables, flags = (reads.str.contains(word).sum() for word in ("without a lock$", "flags"))
    assert f"all {len(reads)} calls" in finding.hurts
    assert f"{tables} are followed by a look at upper levels" in finding.hurts
    assert f"{flags} by one at the VMA's flags" in finding.hurts
