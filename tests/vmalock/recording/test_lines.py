"""Lines of perf script, trace-cmd and ftrace: which thread, when, what, with any options."""

import pytest

from lorelab.errors import BadInput
from lorelab.vmalock.recording import lines, recording, report

EVENT = "mmap_lock:mmap_lock_released: mm=0xffff01 memcg_id=7 write=true"
SHORT = EVENT.removeprefix("mmap_lock:")
COMMS = [
    "shop-a", "fc_vcpu 2", "Web Content", "kworker/u8:3", "a [b] (c)", "7", "x-12", "12 [003]",
    "GC 1.0:", "\u0440\u0430\u0431\ufffd", "=> dd",
]  # fmt: skip
PERF = {
    "default": "{comm:>16} {tid:5} [003]  4012.123456: {event}",
    "with a callchain": "{comm} {tid:5} [003]  4012.123456: {event}",
    "pid and tid": "{comm:>16} {pid:5}/{tid:<5} [003]  4012.123456: {event}",
    "period": "{comm:>16} {tid:5} [003]  4012.123456:          1 {event}",
    "misc": "{comm:>16} {tid:5} [003] K     4012.123456: {event}",
    "time of day": "{comm:>16} {tid} [003] 2026-11-27 04:19:42.411021  4012.123456: {event}",
    "nanoseconds": "{comm:>16} {tid:5} [003]  4012.123456000: {event}",
    "flags": "{comm:>16} {tid:5} [003]  4012.123456: {event}",
    "no cpu": "{comm:>16} {tid:5}  4012.123456: {event}",
    "pid and tid, no cpu": "{comm:>16} {pid}/{tid}  4012.123456: {event}",
}
FTRACE = {
    "default": "{comm:>16}-{tid:<7} [003] .....  4012.123456: {event}",
    "no flags": "{comm:>16}-{tid:<7} [003]  4012.123456: {event}",
    "flags of four, and old": "{comm:>16}-{tid:<5} [003] d.h1  4012.123456: {event}",
    "lazy preemption": "{comm:>16}-{tid:<7} [003] b.L21  4012.123456: {event}",
    "tgid": "{comm:>16}-{tid:<7} (  {pid}) [003] .....  4012.123456: {event}",
    "no tgid": "{comm:>16}-{tid:<7} (-------) [003] .....  4012.123456: {event}",
    "trace-cmd": "{comm:>16}-{tid:<5} [003]  4012.123456: {event}",
    "trace-cmd --ts-diff": "{comm:>16}-{tid:<5} [003]  4012.123456: (+12)   {event}",
    "trace-cmd -l": "{comm:>8}-{tid:<5}   3d..1.  4012.123456: {event}",
}


@pytest.mark.parametrize("comm", COMMS)
@pytest.mark.parametrize("form", PERF)
def test_perf_script(form, comm):
    found = lines.head(PERF[form].format(comm=comm, pid=14100, tid=14101, event=EVENT))
    assert found == (4012_123456_000, comm, 14101, EVENT, "")


@pytest.mark.parametrize("comm", [*COMMS, "<...>", "<idle>"])
@pytest.mark.parametrize("form", FTRACE)
def test_ftrace_and_trace_cmd(form, comm):
    found = lines.head(FTRACE[form].format(comm=comm, pid=14100, tid=14101, event=SHORT))
    assert found == (4012_123456_000, comm, 14101, SHORT, "")


@pytest.mark.parametrize("file", ["guest.dat", "a b.dat", "x: y", "/tmp/[0] 1.0: -5"])
@pytest.mark.parametrize("comm", [*COMMS, "<...>", "a:  b"])
def test_trace_cmd_of_several_files_or_buffers_names_them_first(comm, file):
    """As print_handle_file() of trace-cmd: filled up with blanks from the left, and a colon."""
    for comm_, form in [(f"{comm:>{16 - len(comm.encode()) + len(comm)}}", "trace-cmd"),
                        (f"{comm:>8}"[:8], "trace-cmd -l")]:  # fmt: skip
        line = FTRACE[form].format(comm=comm_, tid=14101, event=SHORT)
        found = lines.head(f"{file:>20}: {line}")
        assert found == (4012_123456_000, comm_.strip(), 14101, SHORT, file)
        assert lines.head(f"{'':>20}  {line}") == found._replace(file="")


@pytest.mark.parametrize("mark", " $@*#!+")
def test_ftrace_with_latency_format_counts_microseconds(mark):
    found = lines.head(f"ThreadPo-31829     1d..2. 281381us{mark}: {SHORT}")
    assert found == (281_381_000, "ThreadPo", 31829, SHORT, "")


def test_perf_script_with_latency_attributes_cuts_names_and_drops_brackets():
    found = lines.head(f"  python 26947   0   772.926627: {EVENT}")
    assert found == (772_926627_000, "python", 26947, EVENT, "")


def test_one_buffer_beside_the_main_one_is_read_and_two_are_refused(tmp_path):
    file = tmp_path / "report"
    begin = event(1, 100000, "start_locking")
    end = event(1, 100001, "acquire_returned", " success=true")
    named = f"mine: {begin}mine: {end}"
    later = f"{begin}mine: {end}".replace("4012.", "4013.")
    # The line below one that events were lost before has no name.
    file.write_text(f"      cpus=2\n{named}mine: CPU:0 [3 EVENTS DROPPED]\n{later}")
    events = recording.read(file)
    assert {one.comm for one in events if one.mm} == {"shop"}
    assert report.waits(events)["wait"].tolist() == [1000, 1000]
    assert "in 1 place:" in report.gaps(events)[-1]
    for other in ("hers: ", "      "):
        file.write_text(named + named.replace("mine: ", other))
        with pytest.raises(BadInput, match=r"several files or buffers \(.*mine.*\)") as complaint:
            recording.read(file)
        assert "\n" not in str(complaint.value)


def test_no_thread_or_no_time():
    assert lines.head(f"shop-a  4012.123456: {EVENT}") is None
    assert lines.head(f"shop-a 4101 [003] {EVENT}") is None
    assert (
        lines.head(f" Pool  31829 1 0 00000000 00000001 [4eb69913] 281.491ms (+0.013ms): {SHORT}")
        is None
    )


def event(tid, at, what, more=""):
    return (
        f"            shop-{tid}   [003] .....  4012.{at}: mmap_lock_{what}: "
        f"mm=000000003d2daa62 memcg_id=3797 write=true{more}\n"
    )


STACKS = {
    "ftrace": ("<stack trace>\n", " => {}\n"),
    "trace-cmd": (
        "kernel_stack:         \t=> trace_event_raw_event_mmap_lock\n", "\t=> {} (ffffffff8100)\n"
    ),
    "older trace-cmd": ("kernel_stack:         <stack trace >\n", "=> {} (ffffffff8100)\n"),
}  # fmt: skip


@pytest.mark.parametrize("tool", STACKS)
def test_a_stack_belongs_to_the_last_event_of_its_thread(tmp_path, tool):
    head, frame = STACKS[tool]

    def stack(tid, at, *symbols):
        begin = f"            shop-{tid}   [003] .....  4012.{at}: {head}"
        return begin + "".join(frame.format(symbol) for symbol in symbols)

    file = tmp_path / "trace"
    file.write_text(
        "# tracer: nop\n"
        + event(1, 100000, "start_locking")
        + event(2, 100001, "start_locking")
        + stack(1, 100001, "mmap_start", "__x64_sys_brk", "0x0")
        + stack(2, 100002, "exc_page_fault")
        + event(1, 100003, "acquire_returned", " success=true")
        + "            shop-1   [003] .....  4012.100003: sched_switch: prev_comm=shop\n"
        + stack(1, 100004, "__x64_sys_munmap")
        + event(1, 100005, "released")
        + stack(1, 100006, "0x0")
    )
    calls = [(one.tid, one.what, one.call) for one in recording.read(file)]
    assert calls == [
        (1, "start_locking", "brk"),
        (2, "start_locking", "page fault"),
        (1, "acquire_returned", ""),
        (1, "released", ""),
    ]


def test_without_comm_a_thread_has_its_number_as_name(tmp_path):
    file = tmp_path / "perf.txt"
    for thread in ("4101", "4100/4101"):
        file.write_text(f"  {thread} [002]  9120.500100: {EVENT}\n")
        assert [(one.comm, one.tid) for one in recording.read(file)] == [(":4101", 4101)]


@pytest.mark.parametrize(
    ("symbol", "call"),
    [
        ("__x64_sys_munmap", "munmap"),
        ("__x32_compat_sys_munmap", "munmap"),  # before 5.9
        ("__ia32_compat_sys_execve", "execve"),
        ("__arm64_sys_mprotect", "mprotect"),
        ("__arm64_compat_sys_aarch32_mmap2", "aarch32_mmap2"),
        ("__s390x_sys_brk", "brk"),
        ("__s390_compat_sys_s390_mmap2", "s390_mmap2"),
        ("__s390_sys_munmap", "munmap"),
        ("__riscv_sys_madvise", "madvise"),
        ("sys_munmap", "munmap"),  # powerpc, loongarch
        (".sys_munmap", "munmap"),  # powerpc, big endian
        ("SyS_munmap", "munmap"),  # before 4.17
        ("__se_sys_mmap.isra.0", "mmap"),
        ("el0_da", "page fault"),
        ("do_mem_abort", "page fault"),
        ("do_dat_exception", "page fault"),
        ("___do_page_fault", "page fault"),
        ("handle_page_fault", "page fault"),
        ("khugepaged", "khugepaged"),
    ],
)
def test_syscalls_and_faults_of_each_architecture(symbol, call):
    assert (
        recording.call(["down_read", symbol, "entry"] if call != symbol else ["x", symbol]) == call
    )


def test_a_name_cut_in_the_middle_of_a_character_and_other_encodings(tmp_path):
    comm = "\u0440\u0430\u0431\u043e\u0447\u0438\u0439\u0439"
    line = f"{comm}  4101 [002] 9120.500100: {EVENT}\r\n"
    file = tmp_path / "perf.txt"
    for data, name in [
        (line.encode().replace(comm.encode(), comm.encode()[:15]), comm[:7] + "\ufffd"),
        (b"\xef\xbb\xbf" + line.encode(), comm),
        (line.encode("utf-16"), comm),
        (line.replace("\r\n", "\r").encode(), comm),
        (line.replace("\r\n", "\r").encode("utf-16"), comm),
        (line.replace("\r\n", "\r\r\n").encode(), comm),
        (b"> > " + line.encode(), comm),
        (b"| > " + line.encode(), comm),
        (b"\x1b[32m\x1b[K" + line.encode().replace(b" 4101", b"\x1b[m\x1b[K 4101"), comm),
    ]:
        file.write_bytes(data)
        assert [one.comm for one in recording.read(file)] == [name]
        assert report.summary(recording.read(file)).empty
