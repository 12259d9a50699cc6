"""Reproducers that need no patched kernel say what they should of the laboratory's 6.12.117."""

import pytest

from lorelab.lab import boot
from lorelab.lab.cache import KERNEL_FILES

SAID = {
    "gso/upstream/one-word-for-many": "FAIL: nobody is told that sends [1, 3, 5, 7] were copied",
    "gso/upstream/unread-router-alert": "PASS",
    "damon/upstream/pages-on-no-list": "PASS",
}
"""By kit, the last line: the first has had it since 4ab6c99d99bb, the others are of later ones."""


@pytest.mark.parametrize("kit", SAID)
def test_what_a_reproducer_says_of_the_unmodified_kernel(laboratory, kit):
    folder = KERNEL_FILES / kit
    [file] = folder.glob("reproduce.*")
    job = boot.Job(None, "reproducer", {"file": file.name}, 120.0, rows=1)
    kernel, root = laboratory.kernel.image, laboratory.guest.root
    machine = boot.Machine(memory_mib=512)
    [row] = boot.run(kernel, root, folder, machine, job, quiet=True).rows
    assert row["said"].splitlines()[-1:] == [SAID[kit]], row
    assert row["status"] == (SAID[kit] != "PASS")
