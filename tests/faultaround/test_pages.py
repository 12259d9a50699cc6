"""The example's landing page is as the house has them, and the guide names files that are there."""

import re

import nbformat
import pytest

from lorelab.book import build
from tests.book import test_landing as landing

CHECKS = [check for name, check in vars(landing).items() if name.startswith("test_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_is_a_landing_page(check):
    check("faultaround")


def test_the_guide_names_files_of_the_example():
    page = nbformat.read(build.ROOT / "notebooks/guide.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in page.cells)
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text))
    homes = [build.ROOT, build.ROOT / "lib/lorelab/faultaround", build.ROOT / "lib/kernel"]
    lacking = {name for name in named if not any((home / name).exists() for home in homes)}
    assert len(named) > 4
    assert lacking == {"thread/findings.py"}, "the example has no finding"
