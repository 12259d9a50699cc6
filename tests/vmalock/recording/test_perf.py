"""`perf script` text of mmap_lock: who waited for whom, and what is no such text."""

import pandas as pd
import pytest
from click.testing import CliRunner

from lorelab.cli import cli
from lorelab.errors import BadInput
from lorelab.vmalock.recording import recording, report


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


STEPS = [
    (500100, "shop-a", 4101, "start_locking", "write=true"),
    (500101, "shop-a", 4101, "acquire_returned", "write=true success=true"),
    (500110, "shop-b", 4102, "start_locking", "write=false"),
    (500150, "shop-a", 4101, "released", "write=true"),
    (500155, "shop-b", 4102, "acquire_returned", "write=false success=true"),
    (500160, "shop-b", 4102, "released", "write=false"),
]
"""shop-b reads 45 us after it began to wait, for shop-a, which writes."""


def steps(what=("start_locking", "acquire_returned", "released"), memcg="memcg_path=/a"):
    return "".join(
        f"{comm:>16} {tid} [002] 9120.{at}: mmap_lock:mmap_lock_{name}: mm=0xff01 {memcg} {end}\n"
        for at, comm, tid, name, end in STEPS
        if name in what
    )


@pytest.mark.parametrize("memcg", ["memcg_path=/a", "memcg_path=", "memcg_id=7711"])
def test_a_memory_group_is_named_by_path_or_by_number(file, memcg):
    first = report.summary(recording.read(file(steps(memcg=memcg)))).loc[0]
    assert first[["comm", "kind", "holder", "holder_kind", "total"]].tolist() == [
        "shop-b", "read", "shop-a", "write", 45_000
    ]  # fmt: skip


def test_without_released_nobody_is_blamed(file):
    events = recording.read(file(steps(("start_locking", "acquire_returned"))))
    assert report.waits(events)["wait"].tolist() == [1000, 45_000]
    assert report.waits(events)["holder"].tolist() == ["", ""]
    assert report.holds(events).empty
    assert [gap for gap in report.gaps(events) if "released was not recorded" in gap]


@pytest.mark.parametrize("what", ["start_locking", "acquire_returned", "released"])
def test_one_event_alone_is_an_empty_table_and_a_word(file, tmp_path, what):
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["vmalock", str(file(steps((what,)))), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [",".join([*report.KEYS, *report.FIGURES])]
    missing = {"start_locking", "acquire_returned", "released"} - {what}
    assert all(f"mmap_lock_{one} was not recorded" in done.stderr for one in missing)
    assert len((out / "wait.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "lost",
    [
        "CPU:2 [LOST 12 EVENTS]\n",
        "CPU:2 [LOST EVENTS]\n",
        "CPU:2 [12 EVENTS DROPPED]\n",
        "CPU:2 [EVENTS DROPPED]\n",
        "  shop-a 4101 [002] 9120.500105: PERF_RECORD_LOST lost 275\n",
    ],
)
def test_where_events_were_lost_the_holder_is_forgotten(file, lost):
    begin, rest = steps().split("\n", 2)[:2], steps().split("\n", 2)[2]
    events = recording.read(file("\n".join(begin) + "\n" + lost + rest))
    assert report.waits(events).set_index("comm").loc["shop-b", "holder"] == ""
    assert report.holds(events)["comm"].tolist() == ["shop-b"]
    [gap] = report.gaps(events)
    assert "events were lost in 1 place: " in gap
    assert "waits that had begun there are left out (0)" in gap


SOMEWHERE = [
    "  shop-a 4101 [002] 9120.500105: PERF_RECORD_LOST_SAMPLES lost 275\n",
    "Warning:\nProcessed 9821 samples and lost 33.45%!\n\n",
    "# entries-in-buffer/entries-written: 183/204098   #P:2\n",
    "# latency: 0 us, #183/204098, CPU#0 | (M:PREEMPT VP:0, KP:0, SP:0 HP:0 #P:2)\n",
    "##### CPU 1 buffer started ####\n",
]


@pytest.mark.parametrize("lost", SOMEWHERE)
def test_where_the_place_of_a_loss_is_not_known_any_figure_may_be_wrong(file, lost):
    whole = report.summary(recording.read(file(steps())))
    for text in (lost + steps(), steps() + lost):
        events = recording.read(file(text))
        assert report.summary(events).equals(whole)
        [gap] = report.gaps(events)
        assert "does not say where: any of these waits and holders may be wrong" in gap


def test_a_wait_across_a_loss_is_left_out_and_counted(file):
    """Among what was lost may be its end, and the begin of another."""
    begin, rest = "\n".join(steps().split("\n", 3)[:3]), steps().split("\n", 3)[3]
    text = f"{begin}\nCPU:2 [LOST EVENTS]\n{rest}CPU:2 [LOST EVENTS]\n"
    events = recording.read(file(text))
    assert report.waits(events)["comm"].tolist() == ["shop-a"]
    [gap] = report.gaps(events)
    assert "in 2 places: " in gap and "waits that had begun there are left out (1)" in gap


def test_a_loss_before_the_first_event_makes_no_time_a_difference(file):
    lines = steps().splitlines(keepends=True)
    events = recording.read(file("CPU:2 [LOST EVENTS]\n" + "".join([*lines[1:], lines[0]])))
    assert len(report.waits(events)) == 2


def test_a_whole_buffer_lost_nothing(file):
    text = "# entries-in-buffer/entries-written: 6/6   #P:2\n" + steps()
    assert report.gaps(recording.read(file(text))) == []


def test_what_another_thread_let_go_of_is_nobodys(file):
    """mmap_read_unlock_non_owner() drops it from an interrupt."""
    text = (
        line(1.0, "start_locking", 1, "false")
        + line(1.000001, "acquire_returned", 1, "false", "true")
        + line(1.000002, "released", 2, "false")
        + line(1.000003, "start_locking", 3)
        + line(1.000004, "acquire_returned", 3, success="true")
        + line(1.000005, "start_locking", 1, "false")
        + line(1.000006, "released", 3)
        + line(1.000007, "acquire_returned", 1, "false", "true")
        + line(1.000008, "start_locking", 4)
    )
    events = recording.read(file(text))
    waits = report.waits(events)
    assert list(zip(waits["tid"], waits["holder_kind"], strict=True)) == [
        (1, ""),
        (3, "read"),
        (1, "write"),
    ]
    assert report.holds(events)["held"].tolist() == [2000]


def test_of_several_readers_the_one_that_holds_it_longest_is_named(file):
    """And when it lets go, the next one; a writer that comes then waits for that one."""
    text = "".join(
        line(1 + at / 1e6, "start_locking", tid, "false", comm=f"reader {tid}")
        + line(1 + (at + 1) / 1e6, "acquire_returned", tid, "false", "true", comm=f"reader {tid}")
        for at, tid in ((0, 3), (10, 1), (20, 2))
    )
    text += (
        line(1.000030, "start_locking", 8, comm="first")
        + line(1.000040, "released", 3, "false", comm="reader 3")
        + line(1.000050, "start_locking", 9, comm="second")
        + line(1.000060, "released", 2, "false", comm="reader 2")
        + line(1.000070, "released", 1, "false", comm="reader 1")
        + line(1.000080, "acquire_returned", 8, success="true", comm="first")
        + line(1.000090, "released", 8, comm="first")
        + line(1.000100, "acquire_returned", 9, success="true", comm="second")
    )
    events = recording.read(file(text))
    waits = report.waits(events).set_index("comm")
    assert waits.loc[["first", "second"], "holder"].tolist() == ["reader 3", "reader 1"]
    assert waits.loc[["first", "second"], "wait"].tolist() == [50_000, 50_000]
    held = report.holds(events).set_index("comm")["held"]
    assert held.to_dict() == {
        "reader 3": 39_000,
        "reader 1": 59_000,
        "reader 2": 39_000,
        "first": 10_000,
    }


def test_times_that_are_differences_are_refused(file):
    text = line(0, "start_locking") + line(0.000008, "released") + line(0.000001, "released")
    for part in (text, text.replace("0.000000:", "0.000002:")):  # as grep leaves it
        with pytest.raises(BadInput, match="--deltatime"):
            recording.read(file(part))
    swapped = steps().splitlines(keepends=True)
    events = recording.read(file("".join([*swapped[1:], swapped[0]])))
    assert events == recording.read(file(steps()))


@pytest.mark.parametrize("thread", ["swapper 0", "swapper 0/0", ":-1 -1", ":-1 -1/-1", "-1"])
@pytest.mark.parametrize("cpu", ["[002] ", ""])
def test_threads_that_perf_has_no_number_for_are_left_out_and_counted(file, thread, cpu):
    """Of another PID namespace, or ended (perf_event_pid_type in kernel/events/core.c)."""
    other = "".join(
        f"         {thread} {cpu}9120.50010{at}: mmap_lock:mmap_lock_{what}: mm=0xff01 "
        f"memcg_id=1 write=true{more}\n"
        for at, what, more in [
            (1, "start_locking", ""), (2, "acquire_returned", " success=true"), (3, "released", ""),
        ]
    )  # fmt: skip
    whole = report.summary(recording.read(file(steps())))
    events = recording.read(file(other + steps()))
    assert report.summary(events).equals(whole)
    [gap] = report.gaps(events)
    assert "events of threads 0 and -1 are left out (2)" in gap
    with pytest.raises(BadInput, match="another PID namespace"):
        recording.read(file(other))


def test_an_idle_cpu_in_an_interrupt_lets_go_of_a_lock(file):
    """mmap_read_unlock_non_owner() in an interrupt, of which no thread lacks."""
    irq = "  swapper 0 [002] 9120.600100: mmap_lock:mmap_lock_released: mm=0x1 write=false\n"
    assert report.gaps(recording.read(file(steps() + irq))) == []


def test_addresses_that_the_kernel_hid_alike_are_no_address(file):
    text = steps().replace("mm=0xff01", "mm=(____ptrval____)")
    with pytest.raises(BadInput, match=r"line 1: .*stands for any mm"):
        recording.read(file(text))


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
        ("0.1 a/7 mmap_lock:mmap_lock_released(mm: 0x1, write: true)\n", "no line has a whole one"),
        ('{"event": "mmap_lock:mmap_lock_released", "tid": 7}\n', "no line has a whole one"),
        (b"\xff\xfe\x00PERFILE2", "is not text"),
        ("a 7 [0] 1.000000: mmap_lock:mmap_lock_released: nothing\n", "line 1: no mmap_lock event"),
        (line(1, "grabbed"), "no event mmap_lock_grabbed"),
        (line(1, "acquire_returned"), "line 1: no mmap_lock event, or not all of it"),
        (steps()[:-12], "line 6: no mmap_lock event, or not all of it"),
        (
            "a 1.000000: mmap_lock:mmap_lock_released: mm=0x1 write=true\n",
            "line 1: an event with no thr",
        ),
        ("mmap_lock_released: mm=0x1 memcg_id=1 write=true\n", "line 1: an event with no thread"),
        (
            "a-7 [000] ...1. 4012: mmap_lock_released: mm=0x1 write=true\n",
            "a time that is no s",
        ),
        (b"\x1f\x8b\x08", "is packed; unpack it first, with gzip -d"),
        (b"PERFILE2" + bytes(8), "is perf.data; give what `perf script -i` prints of it"),
        (b"\x17\x08Dtracing6\0", "is trace.dat; give what `trace-cmd report -i` prints of it"),
    ],
)
def test_what_is_no_recording_says_so_in_one_line(file, text, said):
    with pytest.raises(BadInput, match=said) as complaint:
        recording.read(file(text))
    assert "\n" not in str(complaint.value)


PREFIXES = {
    "grep -n": "7:",
    "grep -H": "perf.txt:",
    "cat -n": "     7\t",
    "dmesg": "[   12.345678] ",
    "journal": "Nov 29 07:48:45 host perf[123]: ",
}


@pytest.mark.parametrize("name", PREFIXES)
def test_what_another_tool_put_before_a_line_is_no_name(file, name):
    text = "".join(PREFIXES[name] + one for one in steps().splitlines(keepends=True))
    with pytest.raises(BadInput, match=r"line 1: .+ is longer than the 15 bytes"):
        recording.read(file(text))


def test_the_door(file, tmp_path):
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["vmalock", str(file(TEXT)), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].startswith("comm,call,kind,holder")
    assert {each.name for each in out.iterdir()} == {"wait.csv", "wait.svg", "held.csv", "held.svg"}
