"""Files opened meanwhile are told, however many times they are."""

from pathlib import Path

import pytest

from lorelab.book.opened import Opened


@pytest.fixture
def folder(tmp_path):
    for name in ("a", "b", "c", "part/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    return tmp_path


def test_files_opened_meanwhile_and_no_others(folder):
    (folder / "c").read_text()
    with Opened(folder) as opened:
        (folder / "a").read_text()
        (folder / "part/d").read_text()
        list(folder.iterdir())
    (folder / "b").read_text()
    assert opened.files == {folder / "a", folder / "part/d"}


def test_more_opens_than_the_queue_holds(folder):
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with Opened(folder) as opened:
        for n in range(most + 1000):  # in turn, as the same one again is no new event
            open(folder / "ab"[n % 2]).close()
    assert opened.files == {folder / "a", folder / "b"}
