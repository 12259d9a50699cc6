"""A short program for the model and the kernel of these tests."""

import pytest

from lorelab.lab.records import Record

SHORT = "a, 4000000\nb, 4000000\n\none\n400\na, 0, 4096, 1\n\ntwo\n400\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Path of a program that touches one of two regions, then the other, 400 ms each."""
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return str(path)


@pytest.fixture(scope="session")
def as_kernel():
    """Take counters of the model for a kernel's."""
    return lambda counters: Record(counters.assign(source="kernel"), None)
