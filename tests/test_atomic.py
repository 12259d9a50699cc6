"""Folders that are written in: gone when their process is, and never another's."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lorelab import atomic

HOLD = """\
import sys, time
from pathlib import Path
from lorelab import atomic
with atomic.folder(Path(sys.argv[1])) as made:
    (made / "half").write_text("half")
    print(made, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that is at work in a folder of its own."""
    command = [sys.executable, "-c", HOLD, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_what_is_not_moved_out_goes(tmp_path):
    with atomic.folder(tmp_path) as made:
        (made / "a").write_text("whole")
        (made / "b").write_text("half")
        (made / "a").replace(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_so_does_what_an_error_leaves(tmp_path):
    with pytest.raises(ValueError), atomic.folder(tmp_path) as made:
        (made / "a").write_text("half")
        raise ValueError
    assert list(tmp_path.iterdir()) == []


def test_another_at_work_is_left_alone(tmp_path, holder):
    [theirs] = tmp_path.iterdir()
    with atomic.folder(tmp_path) as ours:
        assert ours != theirs and (theirs / "half").exists()
    assert list(tmp_path.iterdir()) == [theirs]


def test_what_a_killed_one_left_goes_with_the_next(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert len(list(tmp_path.iterdir())) == 1
    with atomic.folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic.folder(tmp_path / "absent"):
        pass


def test_a_file_is_the_one_before_or_the_new_one(tmp_path, monkeypatch):
    file = tmp_path / "a"
    assert atomic.write(file, "before") == file

    def full(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            atomic.write(file, "after")
    assert file.read_text() == "before"
    atomic.write(file, b"after")
    assert file.read_text() == "after" and list(tmp_path.iterdir()) == [file]


def test_two_that_write_one_file_share_no_other(tmp_path):
    """Each has a folder of its own, so neither moves away what the other writes."""
    with atomic.folder(tmp_path) as one, atomic.folder(tmp_path) as other:
        (one / "a").write_text("one")
        atomic.write(tmp_path / "a", "third")
        (other / "a").write_text("other")
        (one / "a").replace(tmp_path / "a")
        (other / "a").replace(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_that_has_to_be_new_is_never_written_over(tmp_path):
    file = atomic.write(tmp_path / "a", "first", new=True)
    with pytest.raises(FileExistsError) as refused:
        atomic.write(file, "second", new=True)
    assert refused.value.filename == str(file)
    assert file.read_text() == "first"
    assert list(tmp_path.iterdir()) == [file]
