"""`perf script` text of mmap_lock: who waited for whom, and what is no such text."""

import pandas as pd
import pytest
from click.testing import CliRunner

from lorelab.cli import cli
from lorelab.errors import BadInput
from lorelab.vmalock.perf import recording, report


def line(time, what, tid=7, write="true", success=None, comm="app worker", mm="0xffff888004"):
    end = f" success={success}" if success else ""
    return (
        f"{comm:>16} {tid:5} [001] {time:.6f}: mmap_lock:mmap_lock_{what}: "
        f"mm={mm} memcg_path=/a b write={write}{end}\n"
    )


def chain(*symbols):
    return "".join(f"\tffffffff8100 {name}+0x12 ([kernel.kallsyms])\n" for name in symbols) + "\n"


MUNMAP = chain("__mmap_lock_do_trace_start_locking", "__x64_sys_munmap", "do_syscall_64")
FAULT = chain("lock_mm_and_find_vma", "do_user_addr_fault", "exc_page_fault")
TEXT = (
    line(1.000000, "start_locking")
    + MUNMAP
    + line(1.000001, "acquire_returned", success="true")
    + MUNMAP
    + line(1.000010, "start_locking", 8, "false")
    + FAULT
    + line(1.000020, "acquire_returned", 9, "true", "true", mm="0xother")
    + line(1.000030, "acquire_returned", write="false", success="true")
    + MUNMAP
    + line(1.000050, "acquire_returned", 8, "false", "true")
    + FAULT
    + line(1.000060, "released", write="false")
    + line(1.000090, "released", 8, "false")
    + FAULT
)


@pytest.fixture
def file(tmp_path):
    def write(text):
        made = tmp_path / "perf.txt"
        made.write_text(text) if isinstance(text, str) else made.write_bytes(text)
        return made

    return write


def test_a_fault_waits_for_a_munmap(file):
    found = report.waits(recording.read(file(TEXT))).set_index("tid")
    fault = found.loc[8]
    assert fault["wait"] == 40_000
    assert (fault["call"], fault["kind"]) == ("page fault", "read")
    assert (fault["holder"], fault["holder_call"], fault["holder_kind"]) == (
        "app worker",
        "munmap",
        "write",
    )
    assert found.loc[7, "wait"] == 1000
    assert found.loc[7, "holder"] == ""
    assert 9 not in found.index


def test_a_downgrade_ends_one_hold_and_begins_another(file):
    found = report.holds(recording.read(file(TEXT)))
    mine = found[found["tid"] == 7]
    assert list(zip(mine["kind"], mine["held"], strict=True)) == [
        ("write", 29_000),
        ("read", 30_000),
    ]


def test_a_failed_trylock_holds_nothing(file):
    text = line(1, "start_locking") + line(1.00001, "acquire_returned", success="false")
    events = recording.read(file(text))
    assert not report.waits(events)["got"].any()
    assert report.holds(events).empty


def test_the_longest_wait_is_first(file):
    found = report.summary(recording.read(file(TEXT)))
    assert found.loc[0, "call"] == "page fault"
    assert list(found["total"]) == sorted(found["total"], reverse=True)
    assert found["taken"].sum() == 2


def test_octaves():
    found = report.histogram(pd.Series([0, 1, 2, 3, 4, 1023, 1024]))
    assert dict(zip(found["from"], found["times"], strict=True)) == {
        0: 1, 1: 1, 2: 2, 4: 1, 512: 1, 1024: 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no event of mmap_lock"),
        ("hello\n", "has no event of mmap_lock"),
        (b"\xff\xfe\x00PERFILE2", "is not text"),
        ("a 7 [0] 1.000000: mmap_lock:mmap_lock_released: nothing\n", "line 1: no mmap_lock event"),
        (line(1, "grabbed"), "no event mmap_lock_grabbed"),
    ],
)
def test_what_is_no_recording_says_so_in_one_line(file, text, said):
    with pytest.raises(BadInput, match=said) as complaint:
        recording.read(file(text))
    assert "\n" not in str(complaint.value)


def test_the_door(file, tmp_path):
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["vmalock", str(file(TEXT)), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].startswith("comm,call,kind,holder")
    assert {each.name for each in out.iterdir()} == {"wait.csv", "wait.svg", "held.csv", "held.svg"}
