"""The table of kernel functions that models mirror: each row's are both there."""

import inspect
import re
import tarfile
from importlib import import_module

import pytest

from lorelab.lab.needs import SOURCE
from lorelab.showing import mirrors

BOOTED = "6.12.117"
"""The release whose source the laboratory builds."""


@pytest.mark.parametrize("name", mirrors.table())
def test_ours_is_there_and_is_shown_with_its_place(name):
    module, _, function = name.rpartition(".")
    ours = getattr(import_module(f"lorelab.{module}"), function)
    kernel = mirrors.table()[name]
    at = mirrors.place(ours)
    assert f"mirrors [`{kernel.function}()`]({kernel.url})" in at
    file, line = re.match(r"`(\S+)`, line (\d+) ", at).groups()
    lines = (mirrors.ROOT / file).read_text().splitlines()[int(line) - 1 :]
    assert inspect.getsource(getattr(ours, "py_func", ours)).startswith(lines[0])


def test_a_function_from_elsewhere_has_no_place():
    assert mirrors.place(re.compile) == ""


@pytest.mark.skipif(not SOURCE.exists(), reason=f"no {SOURCE}")
def test_the_kernels_is_defined_on_its_line():
    booted = [one for one in mirrors.table().values() if one.release == BOOTED]
    assert all(one.line for one in booted)
    missing = {one.file for one in booted}
    texts = {}
    with tarfile.open(SOURCE, "r|xz") as tree:
        for member in tree:
            file = member.name.partition("/")[2]
            if file in missing:
                texts[file] = tree.extractfile(member).read().decode().splitlines()
                missing.remove(file)
            if not missing:
                break
    assert not missing
    for one in booted:
        definition = texts[one.file][int(one.line) - 1]
        assert re.match(rf"[a-z].*\b{one.function}\(", definition), one
        assert not definition.endswith(";"), one
