"""The guide names files and commits that are there; its example opens as the house has it."""

import re
import subprocess

import nbformat
import pytest

from lorelab.book import build
from tests.book import test_landing as landing

CHECKS = [
    check
    for name, check in vars(landing).items()
    if name.startswith("test_") and check not in landing.OF_CHAPTERS
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_is_a_landing_page(check):
    check("faultaround")


def test_the_guide_shows_commits_that_have_what_it_says():
    text = guide()
    shown = re.findall(r"git show ([0-9a-f]{8}) -- ([\w./ -]+)", text)
    assert len(shown) > 8
    assert {hash for hash, _ in shown} >= set(re.findall(r"\b[0-9a-f]{8}\b", text))
    git = ["git", "-C", str(build.ROOT)]
    whole = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True)
    if whole.stdout.strip() != b"false":
        pytest.skip("no history here: not a clone, or a shallow one")
    empty = [
        (hash, path)
        for hash, paths in shown
        for path in paths.split()
        if not subprocess.run(
            [*git, "show", "--format=", "--name-only", hash, "--", path], capture_output=True
        ).stdout
    ]
    assert empty == []


def guide():
    page = nbformat.read(build.ROOT / "notebooks/guide.ipynb", as_version=4)
    return "\n".join(cell.source for cell in page.cells)


def test_the_guide_names_files_of_the_example():
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", guide()))
    homes = [build.ROOT, build.ROOT / "lib/lorelab/faultaround", build.ROOT / "lib/kernel"]
    lacking = {name for name in named if not any((home / name).exists() for home in homes)}
    assert len(named) > 4
    assert lacking == {"thread/findings.py"}, "the example has no finding"
