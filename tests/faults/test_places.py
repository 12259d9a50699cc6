"""Every place that a door writes to, on a disk that is full and on one that is read-only."""

import os
import subprocess

import pytest

from lorelab.lab import cache
from tests.doors import doors
from tests.faults.disks import PAGE, mount, mounts_of_its_own
from tests.faults.trials import HERE
from tests.vmalock.recording.test_perf import TEXT

RECORDINGS = HERE / "data/recordings"
PLACES = {
    "model": ["model", "swap/allocator-test", "-p", "iterations=60", "-o", "{out}/a.csv"],
    "damon": ["damon", str(RECORDINGS / "turns.damon.data"), "-o", "{out}/a"],
    "vmalock": ["vmalock", "{recording}", "-o", "{out}/a"],
    "figure": ["figure", "swap/model-1", "-o", "{out}/a.svg"],
    "lab build": ["lab", "build", "gso"],
}


@pytest.fixture
def recording(tmp_path_factory):
    file = tmp_path_factory.mktemp("recording") / "mmap_lock.perf.txt"
    file.write_text(TEXT)
    return file


@pytest.fixture
def disk(tmp_path):
    """A disk of 4 KiB that has no page left."""
    if os.geteuid() != 0 or not mount(tmp_path, "-t", "tmpfs", "-o", "size=4k", "none"):
        pytest.skip("this user may not mount")
    (tmp_path / "filler").write_bytes(b"x" * PAGE)
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


@pytest.fixture(scope="module")
def forked():
    """Runs a door in a process of its own, from one that sees the disks to come."""
    mounts_of_its_own()
    with doors(HERE, cache.root().parent) as lorelab:
        yield lorelab


@pytest.fixture
def lorelab(disk, recording, forked):
    """Runs a door; one that would build has its cache on the disk, and starts with it full."""

    def lorelab(words):
        words = [word.format(out=disk, recording=recording) for word in words]
        if words[0] != "lab":
            return forked(*words)
        with doors(HERE, disk / "cache") as own:
            return own(*words)

    return lorelab


@pytest.mark.parametrize("place", PLACES)
def test_one_line_nothing_left_and_then_it_works(disk, lorelab, place):
    for options in ("size=4k", "ro"):
        assert mount(disk, "-o", f"remount,{options}")
        done = lorelab(PLACES[place])
        lines = [line for line in done.err.splitlines() if line.startswith("lorelab: ")]
        assert done.status in (1, 2) and len(lines) == 1 and "Traceback" not in done.err
        assert str(disk) in lines[0] or "No space left on device" in lines[0]
        assert {path.name for path in disk.iterdir()} <= {"filler", "cache"}
    if place == "lab build":
        return  # it takes minutes where there is room
    assert mount(disk, "-o", "remount,rw,size=64m")
    assert lorelab(PLACES[place]).status == 0
    assert {path.name for path in disk.iterdir()} > {"filler"}
