"""What texts say of the guard pages that were lost is what the reproducer said."""

import json
import re

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
    """Guard pages of each run of a kernel: those lost, and all."""
    runs = [one for one in recorded("vmalock/lost-guard") if one.kernel == kernel]
    counted = (findings.guards(run)[findings.LOCK] for run in runs)
    return [f"{run.lost} of {run.pages}" for run in counted]


def answer(pages, lost, read):
    line = f"{pages} guard pages, {lost} lost, children read {read}"
    return Answer("".join(f"under {lock}: {line}\n" for lock in findings.RANGES), None, False)


def test_runs_of_a_kernel_are_told_apart():
    """A sum of runs would be the rate of none of them."""
    assert findings.guards(answer(32, 3, 2)) == dict.fromkeys(findings.RANGES, (32, 3, 2))
    counted = (findings.guards(answer(*run))[findings.LOCK] for run in ((32, 3, 2), (64, 0, 0)))
    assert findings._of_runs(counted) == "3 of 32, 0 of 64 (children read 2)"
    for runs in map(under_the_vmas_lock, ("7.3.4", findings.PATCHED)):
        assert f" {', '.join(runs)}" in findings._guards()


def test_the_chance_to_lose_none_is_of_the_run_that_lost_least():
    """One in ten is less than two in four, though more pages; 0.9 ** 2 is 0.81."""
    least = findings.least_lost([answer(4, 2, 0), answer(100, 10, 9), answer(10, 2, 1)])
    assert least == (100, 10, 9)
    assert findings.chance_of_none(least, 2) == pytest.approx(0.81)


def test_the_chance_is_said_of_runs_without_the_patches():
    """By hand from the records: 5 of 640 is the lowest rate, and exp(-1088 / 128) is 0.0002."""
    [figures] = re.findall(
        r"\((\d+) of (\d+)\), the chance to lose 0 of (\d+) would be ([\d.]+)", findings._guards()
    )
    assert figures == ("5", "640", "1088", "0.0002")


def in_words(runs):
    return f"{', '.join(runs[:-1])} and {runs[-1]}"


def test_none_is_lost_with_the_patches_and_the_cover_letter_says_so():
    before, after = map(under_the_vmas_lock, ("7.3.4", findings.PATCHED))
    assert all(run.startswith("0 of ") for run in after)
    assert not any(run.startswith("0 of ") for run in before)
    cover, *_ = upstream.patches("vmalock/lost-guard")
    words = " ".join(cover.read_text().split())
    assert (len(before), len(after)) == (3, 2)
    assert f"three runs of 8 s without the patches lost {in_words(before)} guard regions" in words
    apart = "Two runs with them, and with a patch of mm/madvise.c that is sent apart, lost"
    assert f"{apart} {in_words(after)}." in words


def test_the_start_page_has_them_as_well():
    cells = json.loads((PAGES / "start.ipynb").read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    [text] = (text for text in texts if "MADV_GUARD_INSTALL" in text)
    _, (number, lost, _) = counted()
    assert f"One run on Debian's 7.3.4 lost {lost} of {number}." in text
    before, after = map(under_the_vmas_lock, ("7.3.4", findings.PATCHED))
    assert f"lost {in_words(before)} in three runs in QEMU," in text
    assert f"(findings.ipynb) {in_words(after)} in two." in text


def test_a_name_loses_nothing_with_the_patch():
    before, after = recorded("vmalock/lost-sticky")
    assert before.verdict == "FAIL: lost gu, SIGSEGV, soft-dirty"
    assert (after.patched, after.verdict) == (True, "PASS: none lost")
