"""What a test mounts goes with its process, however that ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.disks import mount

KILLED = """
import os, signal, sys
from tests.faults.disks import mount
assert mount(sys.argv[1], "-t", "tmpfs", "none")
assert sys.argv[1] in open("/proc/mounts").read()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_mount_goes_with_a_process_that_is_killed(tmp_path):
    at = tmp_path / "disk"
    at.mkdir()
    if os.geteuid() != 0 or not mount(at, "-t", "tmpfs", "none"):
        pytest.skip("this user may not mount")
    subprocess.run(["umount", at], check=True)
    ended = subprocess.run([sys.executable, "-c", KILLED, at], cwd=Path(__file__).parents[2])
    assert ended.returncode == -signal.SIGKILL
    assert str(at) not in Path("/proc/1/mounts").read_text()
