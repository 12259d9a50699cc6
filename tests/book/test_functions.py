"""Kernel functions are links at their first place on a page, and the table is the source's."""

import json
import re
import tarfile

import pytest

from lorelab.book import build, functions
from lorelab.lab.needs import SOURCE


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("`do_read_fault()` and `do_read_fault()`", 1),
        ("# `do_read_fault()`\n\n    `do_read_fault()`", 0),
        ("```\n`do_read_fault()`\n```\n<!-- `do_read_fault()` -->", 0),
        ("[`do_read_fault()`](there) is `do_read_fault()`", 0),
        ("| `do_read_fault()` | `do_fault_around()` |", 2),
        ("`mine()`, do_read_fault()", 0),
    ],
)
def test_the_first_of_a_function_is_a_link(text, links):
    made = functions.linked(text, set())
    assert made.count("](https://elixir") == links
    assert re.sub(r"\[(`\w+\(\)`)\]\(https[^)]*\)", r"\1", made) == text


@pytest.mark.parametrize("name", build.chapters(build.ROOT))
def test_no_link_of_a_page_is_within_another(name):
    """And taking ours out again gives the text as it was."""
    seen = set()
    for cell in json.loads((build.ROOT / name).read_text())["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            made = functions.linked(text, seen)
            assert not re.search(r"\[[^\]]*\[`\w+\(\)`\]\(https[^)]*\)[^\[]*?\]\(", made)
            assert re.sub(r'\[(`\w+\(\)`)\]\(https\S+ "6\.12\.117"\)', r"\1", made) == text


@pytest.mark.skipif(not SOURCE.exists(), reason=f"no {SOURCE}")
def test_each_function_is_defined_on_its_line():
    at = {}
    for name, url in functions.places().items():
        file, line = re.search(r"/source/(.*)#L(\d+)$", url).groups()
        at.setdefault(file, []).append((name, int(line)))
    with tarfile.open(SOURCE, "r|xz") as tree:
        for member in tree:
            file = member.name.partition("/")[2]
            if file not in at:
                continue
            lines = tree.extractfile(member).read().decode().splitlines()
            for name, line in at.pop(file):
                assert re.match(rf"(?:\w.*\b)?{name}\(", lines[line - 1]), (name, lines[line - 1])
            if not at:
                break
    assert not at
