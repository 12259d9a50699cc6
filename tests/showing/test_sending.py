"""Findings as rows: names are links, and what is sent is folded."""

import re
from dataclasses import replace

import pytest

from lorelab.judging.findings import findings
from lorelab.showing import sending

FOUND = {one.title: one for one in findings()}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("in tap_handle_frame().", f"{sending.ELIXIR}/tap_handle_frame"),
        ("__dev_forward() too", f"{sending.ELIXIR}/__dev_forward"),
        ("(a-b.1-2@c.org), x", "https://lore.kernel.org/r/a-b.1-2@c.org"),
        ("since 098eadce3c62 (2019)", "https://git.kernel.org/linus/098eadce3c62"),
        ("(https://x.org/a/1.html)", "https://x.org/a/1.html"),
    ],
)
def test_each_name_is_a_link(text, there):
    assert re.findall('href="([^"]*)"', sending.linked(text)) == [there]


@pytest.mark.parametrize("text", ["1048576 of 4194304000000 draws", "a < b & c", "7.3.4"])
def test_numbers_are_no_commits(text):
    assert "href" not in sending.linked(text)


def test_a_row_has_what_is_sent():
    one = replace(FOUND["gso/one-word-for-many"], effect=lambda: "1 < 2")
    html = sending.Rows([one])._repr_html_()
    assert html.count("<details>") == 4, "the reproducer, the cover letter, and two patches"
    assert "1 &lt; 2" in html and "Signed-off-by: YOUR NAME" in html
    assert "lorelab findings gso/one-word-for-many -o FOLDER" in html
