"""What is proposed as a figure, and what counts nothing."""

import pytest

from lorelab.new import figures
from lorelab.new.mail import Message


def message(text):
    return Message("one@example.org", "Ada", None, "count", tuple(enumerate(text.split("\n"), 1)))


def found(text):
    return [(one.value, one.unit) for one in figures.figures([message(text)])]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It takes 12 ms.", [(12, "ms")]),
        ("12ms-15ms", [(12, "ms"), (15, "ms")]),
        (
            "about 10-15MB, 30-40% or 3-4 times",
            [
                *((10, "MB"), (15, "MB"), (30, "%"), (40, "%"), (3, "times"), (4, "times")),
            ],
        ),
        ("+13.4% and (+10.45%), -12.3%", [(13.4, "%"), (10.45, "%"), (-12.3, "%")]),
        ("9.4Gbps, 25Gb/s, 100Gbit", [(9.4, "Gbps"), (25, "Gb/s"), (100, "Gbit")]),
        ("100ns/page, 12us/call or 64k", [(100, "ns/page"), (12, "us/call"), (64, "k")]),
        (
            "12.5 ns/op, 100 req/s, 14.88 Mpps",
            [
                *((12.5, "ns/op"), (100, "req/s"), (14.88, "Mpps")),
            ],
        ),
        ("real 2m12.345s at 4.5e6 ops/s", [(132.345, "s"), (4.5e6, "ops/s")]),
        ("1 000 000 faults, 2\u202f500 of them", [(10**6, "faults"), (2500, "count")]),
        ("the 2nd of 0xff at 4th, on x86_64 with ext4 and i915", []),
        ("down by 23.5% to 1,024 KiB", [(23.5, "%"), (1024, "KiB")]),
        ("between -0.08 % and 4K", [(-0.08, "%"), (4, "K")]),
        ("340 \u00b5s, or 12\u03bcs", [(340, "\u00b5s"), (12, "\u03bcs")]),
        ("On 6.12.117 and v4, since linux-5 and gcc 12", []),
        ("On 2014-05-29 at 14:38, in commit 1fd819ecb90c", []),
        ("see https://lore.kernel.org/r/12 [3] or line 40", []),
        (" mm/memory.c | 12 ++--\n 2 files changed, 8 insertions(+)", []),
        ("elapsed time: 7.250461742 seconds", [(7.250461742, "seconds")]),
        ("Before: swpout:11663  swpout_fallback:6", [(11663, "count"), (6, "count")]),
        ("at 12:38:05.017 in mm/swapfile.c:801, 0000:00:1f", []),
        ("-- \n12 Main Street", []),
    ],
)
def test_numbers(text, numbers):
    assert found(text) == numbers


def test_a_number_of_a_table_is_named_by_row_and_column():
    table = "           base    patched\n\nMean 1    120.95    133.59\nMean 16   100.81    113.61"
    cells = {one.value: one.quantity for one in figures.figures([message(table)])}
    assert cells[120.95] == "Mean 1, base"
    assert cells[113.61] == "Mean 16, patched"


@pytest.mark.parametrize(
    "table",
    [
        "           base    patched\ntime (us)   1400        210",
        "       base (us)   new (us)\ntime        1400        210",
        "|      | base (us) | new (us) |\n|:-----|----------:|---------:|\n| time | 1400 | 210 |",
    ],
)
def test_a_row_or_a_column_may_name_the_unit(table):
    assert found(table) == [(1400, "us"), (210, "us")]
    assert all(one.quantity.count("(") == 1 for one in figures.figures([message(table)]))


def test_a_row_is_named_whole_with_the_numbers_in_its_name():
    table = "                    base  patched\nfor 64 pages (us)   1400      210"
    [_, *cells] = figures.figures([message(table)])
    named = [(one.value, one.unit, one.quantity) for one in cells]
    assert named == [
        (1400, "us", "for 64 pages (us), base"),
        (210, "us", "for 64 pages (us), patched"),
    ]


def test_a_table_of_mmtests_names_its_unit_between_hyphens():
    heading = "                          base              new\n"
    table = f"{heading}SeqRead-MB/sec-  120.95 (  0.00%)  133.59 ( 10.45%)"
    assert found(table) == [(120.95, "MB/sec"), (0, "%"), (133.59, "MB/sec"), (10.45, "%")]


def test_a_table_with_bars_is_no_quote():
    table = "| order | faults |\n|-------|--------|\n|     4 |  1,234 |\n| it takes 12 ms"
    named = [(one.value, one.quantity) for one in figures.figures([message(table)])]
    assert named == [(4, "order"), (1234, "faults")]


def test_what_is_quoted_is_proposed_if_its_message_is_not_there():
    first = message("It takes 12 ms.\n---\n+\tif (nr > 16)")
    text = "> > It takes 12 ms.\n> It takes 13 ms.\n> @@ -7,8 +9,10 @@\n> +\tif (nr > 17)\nNo, 14."
    answer = message(text)._replace(id="two@example.org")
    named = [(one.value, one.quoted, one.line) for one in figures.figures([first, answer])]
    assert named == [(12, False, 1), (14, False, 5), (13, True, 2)]
    alone = [(one.value, one.quoted) for one in figures.figures([answer])]
    assert alone == [(14, False), (12, True), (13, True)]
    # Two answers that quote it propose it once.
    twice = figures.figures([answer, answer._replace(id="three@example.org")])
    assert [one.value for one in twice if one.quoted] == [12, 13]


def test_the_words_before_a_number_are_the_guess_and_its_line_is_kept():
    [one] = figures.figures([message("Hello,\n\nthe launch time is 75 % of it")])
    assert (one.line, one.quantity) == (3, "the launch time is")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Why not reset\nthe batches?", "question"),
        ("I don't think that this works.", "objection"),
        ("It works.", None),
        ("> Why?", None),
    ],
)
def test_questions_and_doubts(text, kind):
    asked = figures.sentences([message(text)])
    assert [one.kind for one in asked] == ([kind] if kind else [])
    assert all(one.line == 1 for one in asked)


def test_a_number_is_named_by_the_label_that_it_follows():
    text = "After:  sys time: 5587.53s   64kB/swpout: 1811598  64kB/swpout_fallback: 7  free:9"
    named = [(one.value, one.quantity) for one in figures.figures([message(text)])]
    assert named == [
        *((5587.53, "After sys time"), (1811598, "64kB/swpout")),
        *((7, "64kB/swpout_fallback"), (9, "free")),
    ]


def test_a_long_sentence_is_shortened():
    [one] = figures.sentences([message("Why " + "so " * 200 + "long?")])
    assert len(one.text) <= figures.LONGEST and one.text.endswith(" ...")
