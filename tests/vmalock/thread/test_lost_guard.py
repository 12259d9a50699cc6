"""What texts say of the guard pages that were lost is what the reproducer said."""

import json
import re
from collections import Counter

import pytest

from lorelab.book.ledger import PAGES
from lorelab.judging import upstream
from lorelab.judging.reproduced import Answer, recorded
from lorelab.vmalock.thread import findings


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


def under_the_vmas_lock(kernel):
    runs = [one for one in recorded("vmalock/lost-guard") if one.kernel == kernel]
    return findings.guards(runs)[findings.LOCK]


def answer(pages, lost, read):
    line = f"{pages} guard pages, {lost} lost, children read {read}"
    return Answer("".join(f"under {lock}: {line}\n" for lock in findings.RANGES), None, False)


def test_runs_of_a_kernel_are_summed():
    runs = [answer(32, 3, 2)] * 2
    assert findings.guards(runs) == dict.fromkeys(findings.RANGES, (64, 6, 4))


def test_the_chance_to_lose_none_is_of_the_run_that_lost_least():
    """One in ten is less than two in four, though more pages; 0.9 ** 2 is 0.81."""
    least = findings.least_lost([answer(4, 2, 0), answer(100, 10, 9), answer(10, 2, 1)])
    assert least == (100, 10, 9)
    assert findings.chance_of_none(least, 2) == pytest.approx(0.81)


def test_the_chance_is_said_of_runs_without_the_patches():
    """By hand from the records: 5 of 640 is the lowest rate, and exp(-1088 / 128) is 0.0002."""
    [figures] = re.findall(
        r"\((\d+) of (\d+)\), the chance to lose 0 of (\d+) would be (\S+)", findings._guards()
    )
    assert figures == ("5", "640", "1088", "0.0002")


def test_none_is_lost_with_the_patches_and_the_cover_letter_says_so():
    before, after = map(under_the_vmas_lock, ("7.3.4", findings.PATCHED))
    assert before.lost > after.lost == 0
    assert after.pages >= before.pages
    cover, *_ = upstream.patches("vmalock/lost-guard")
    words = " ".join(cover.read_text().split())
    runs = Counter(one.kernel for one in recorded("vmalock/lost-guard"))
    without, with_them = runs["7.3.4"], runs[findings.PATCHED]
    lost = f"{before.lost} of {before.pages} guard regions were lost without the patches"
    assert f"{lost}, in {without} runs" in words
    assert f"none of {after.pages} in {with_them} runs with them" in words


def test_the_start_page_has_them_as_well():
    cells = json.loads((PAGES / "start.ipynb").read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    [text] = (text for text in texts if "MADV_GUARD_INSTALL" in text)
    _, (number, lost, _) = counted()
    assert re.findall(r"(\d+) of (\d+) were lost", text) == [(str(lost), str(number))]
    before, after = map(under_the_vmas_lock, ("7.3.4", findings.PATCHED))
    assert f"{before.lost} of {before.pages} were, and none of {after.pages:,} with" in text


def test_a_name_loses_nothing_with_the_patch():
    before, after = recorded("vmalock/lost-sticky")
    assert before.verdict == "FAIL: lost gu, SIGSEGV, soft-dirty"
    assert (after.patched, after.verdict) == (True, "PASS: none lost")
