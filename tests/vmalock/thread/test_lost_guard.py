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


def test_runs_of_a_kernel_are_summed():
    said = "under {}: 32 guard pages, 3 lost, children read 2\n"
    runs = [Answer("".join(said.format(lock) for lock in findings.RANGES), None, False)] * 2
    assert findings.guards(runs) == dict.fromkeys(findings.RANGES, (64, 6, 4))


def test_the_chance_to_lose_none_is_of_the_run_that_lost_least():
    runs = [one for one in recorded("vmalock/lost-guard") if one.kernel == "7.3.4"]
    counts = [findings.guards([one])[findings.LOCK] for one in runs]
    rates = [of.lost / of.pages for of in counts]
    chance = (1 - min(rates)) ** under_the_vmas_lock(findings.PATCHED).pages
    [said] = re.findall(r"the chance to lose 0 of \d+ would be (\S+)", findings._guards())
    assert float(said) == pytest.approx(chance, rel=0.5)
    assert chance < 0.001


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
