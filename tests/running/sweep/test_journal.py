"""What is finished of a sweep stays, whatever ends its writer."""

import errno
import os
import resource
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import BadInput, RunFailed
from lorelab.running.sweep import journal
from lorelab.running.sweep.journal import Journal, Point
from lorelab.running.sweep.plan import grid

PLAN = grid("swap/swapout", ("seed=0:9",))


def row(value):
    return [["v6.12", 0, "pages", "pages", value]]


def test_points_come_back_in_the_order_of_the_plan(tmp_path):
    with Journal(tmp_path, PLAN, "a" * 64) as journal:
        journal.keep([Point(3, row(3.0)), Point(1, row(1.0))])
        journal.keep([Point(2, [], "it panicked")])
    with Journal(tmp_path, PLAN, "a" * 64) as journal:
        assert list(journal.points()) == [Point(1, row(1.0)), Point(3, row(3.0))]
        assert set(journal.done) == {1, 3}


@given(st.integers(0, 400))
def test_a_line_that_was_cut_is_done_again_and_the_others_are_kept(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("sweep")
    with Journal(folder, PLAN, "a" * 64) as journal:
        for number in range(5):
            journal.keep([Point(number, row(number))])
        file = journal.file
    whole = file.read_bytes()
    file.write_bytes(whole[:cut])
    with Journal(folder, PLAN, "a" * 64) as journal:
        assert len(journal.done) == whole[:cut].count(b"\n")
        journal.keep([Point(9, row(9))])
        assert list(journal.points())[-1] == Point(9, row(9))


def test_a_full_disk_keeps_what_was_kept_and_says_so(tmp_path, monkeypatch):
    with Journal(tmp_path, PLAN, "a" * 64) as journal:
        journal.keep([Point(0, row(0))])
        before = journal.file.read_bytes()

        def full(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fdatasync", full)
        with pytest.raises(RunFailed, match=r"No space left.*1 of 10 points are kept, make room"):
            journal.keep([Point(1, row(1))])
        assert journal.file.read_bytes() == before


def test_a_file_that_can_grow_no_more_ends_with_one_line_and_goes_on_later(tmp_path):
    """A write that the kernel itself cuts short, within a line."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.raises(RunFailed, match="1 of 10 points are kept, make room"):  # noqa: SIM117
        with Journal(tmp_path, PLAN, "a" * 64) as journal:
            journal.keep([Point(0, row(0))])
            before = journal.file.read_bytes()
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
            try:
                journal.keep([Point(1, row(1))])
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert journal.file.read_bytes() == before
    with Journal(tmp_path, PLAN, "a" * 64) as journal:
        journal.keep([Point(1, row(1))])
        assert [point.number for point in journal.points()] == [0, 1]


def test_points_of_another_state_are_not_taken_over(tmp_path):
    with Journal(tmp_path, PLAN, "a" * 64) as journal:
        journal.keep([Point(0, row(0))])
    with Journal(tmp_path, PLAN, "b" * 64) as journal:
        assert journal.done == {}
        assert len(journal.others) == 1


def test_a_folder_has_one_sweep_and_one_process_at_a_time(tmp_path):
    with (
        Journal(tmp_path, PLAN, "a" * 64),
        pytest.raises(BadInput, match="another sweep is at work"),
    ):
        Journal(tmp_path, PLAN, "a" * 64)
    with pytest.raises(BadInput, match="has another sweep"):
        Journal(tmp_path, grid("swap/swapout", ("seed=0:8",)), "a" * 64)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match="give -o another"):
        Journal(tmp_path / "file" / "sweep", PLAN, "a" * 64)


def test_a_point_of_a_notebook_rests_on_its_file(tmp_path):
    page = tmp_path / "page.ipynb"
    swept = grid(str(page), ("seed=1:2",))
    page.write_text("{}")
    before = journal.rests_on(swept)
    assert journal.rests_on(swept) == before
    page.write_text("{ }")
    assert journal.rests_on(swept) != before


@pytest.mark.parametrize("changed", ["program", "kernel", "guest", "qemu"])
def test_a_point_on_a_kernel_rests_on_kernel_and_guest(tmp_path, monkeypatch, changed):
    state = {"program": "", "kernel": "6.12", "guest": "trixie", "qemu": "7.2"}
    digest = journal.cache.file_digest

    def digested(file):
        return digest(file) + (state["program"] if file.name == "agent.py" else "")

    def of(name):
        return SimpleNamespace(digest=state[name])

    monkeypatch.setattr(journal.needs, "check", lambda _: None)
    monkeypatch.setattr(journal.cache, "file_digest", digested)
    monkeypatch.setattr(journal.recipes, "recipe", lambda: of("kernel"))
    monkeypatch.setattr(journal.guest, "built", lambda: SimpleNamespace(info=of("guest")))
    monkeypatch.setattr(journal.boot, "qemu_version", lambda: state["qemu"])
    on_kernel, simulated = (grid("swap/x", ("seed=1:2",), kernel) for kernel in (True, False))
    before = journal.rests_on(on_kernel), journal.rests_on(simulated)
    state[changed] = "another"
    assert journal.rests_on(on_kernel) != before[0]
    assert journal.rests_on(simulated) == before[1]
