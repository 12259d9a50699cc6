"""What texts say of the guard pages that were lost is what the reproducer said."""

import json
import re

from lorelab.book.ledger import PAGES
from lorelab.judging import upstream
from lorelab.judging.reproduced import recorded


def counted() -> list[list[int]]:
    """Guard pages, those lost, and those that a child read, on Debian's 7.3.4.

    Under mmap_lock, then under the VMA's lock.
    """
    [said] = (one for one in recorded("vmalock/lost-guard") if "deb13" in one.kernel)
    lines = said.text.splitlines()[:2]
    return [[int(number) for number in re.findall(r"\d+", line)] for line in lines]


def test_the_mail_has_the_figures_of_the_record():
    (others, none, _), (number, lost, _) = counted()
    assert none == 0
    [*_, last] = upstream.patches("vmalock/lost-guard")
    words = " ".join(upstream.mail(last).split())
    assert f"{lost} of {number} guard regions were lost" in words
    assert f"none of {others} that were installed under mmap_lock" in words


def test_the_start_page_has_them_as_well():
    cells = json.loads((PAGES / "start.ipynb").read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    [text] = (text for text in texts if "MADV_GUARD_INSTALL" in text)
    _, (number, lost, _) = counted()
    assert re.findall(r"(\d+) of (\d+) were lost", text) == [(str(lost), str(number))]
