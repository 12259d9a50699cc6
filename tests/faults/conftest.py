"""The disk that a file's tests fill."""

import os
import subprocess

import pytest

from tests.faults.disks import mount


@pytest.fixture
def disk(tmp_path):
    at = tmp_path / "disk"
    at.mkdir()
    if os.geteuid() != 0 or not mount(at, "-t", "tmpfs", "-o", "size=64m", "none"):
        pytest.skip("this user may not mount")
    yield at
    subprocess.run(["umount", "-l", at], check=True)
