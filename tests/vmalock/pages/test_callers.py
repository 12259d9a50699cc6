"""The list of callers: each call once, at a place of its own, and what the finding says of them."""

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


def test_the_finding_counts_the_calls_that_look_where_a_reader_stores():
    [finding] = (one for one in FINDINGS if one.name == "no-acquire")
    reads = callers.calls()["reads next"]
    tables, flags = (reads.str.contains(word).sum() for word in ("without a lock$", "flags"))
    assert f"all {len(reads)} calls" in finding.hurts
    assert f"{tables} are followed by a look at upper levels" in finding.hurts
    assert f"{flags} by one at the VMA's flags" in finding.hurts
