"""A guest that ends badly gives a clear failure, its console's last lines and no QEMU behind it.

What agent and protocol decide without a kernel is in `test_piped`.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lorelab.errors import RunFailed
from lorelab.lab import boot

WORKLOADS = {
    "panic": "yield {'n': 1}; open('/proc/sysrq-trigger', 'w').write('c')",
    "hang": "yield {'n': 1}; import time; time.sleep(1000)",
    "oom": "yield {'n': 1}; [b'x' * (n << 20) for n in range(1, 1000)]",
    "off": "yield {'n': 1}; import os; os._exit(3)",
    "splat": "yield {'n': 1}; open('/dev/kmsg', 'w').write('<4>BUG: KASAN: wild access in f\\n')",
    "dies": "open('/dev/kmsg', 'w').write('<4>BUG: KASAN: wild access in f\\n');"
    " yield {'n': 1}; open('/proc/sysrq-trigger', 'w').write('c')",
    "counts": "yield from ({'n': n, 'of': params['n']} for n in range(params['n']))",
}


@pytest.fixture
def run(laboratory, tmp_path):
    """Boot and run one of `WORKLOADS`."""
    for name, body in WORKLOADS.items():
        (tmp_path / f"{name}.py").write_text(f"def run(params):\n    {body}\n")

    def run(name, params=None, seconds=60.0, fatal=False):
        job = boot.Job(None, name, params or {}, seconds, fatal=fatal)
        machine = boot.Machine(memory_mib=512)
        kernel, root = laboratory.kernel.image, laboratory.guest.root
        return boot.run(kernel, root, tmp_path, machine, job, quiet=True)

    return run


def qemus(parent: int) -> set[int]:
    """QEMU processes with a guest that `parent` started."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            guest = b"-kernel" in status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if guest and "qemu" in lines["Name"] and int(lines["PPid"]) == parent:
            found.add(int(status.parent.name))
    return found


@pytest.mark.parametrize(
    ("name", "seconds", "fatal", "said"),
    [
        # Of a kernel that may die a panic without a complaint is a failure, and so is a complaint
        # without its end; of any other all the more (tests/running/sweep has one that panics).
        ("panic", 60, True, "the guest's kernel panicked"),
        ("hang", 10, False, "hang hung: not done after 10 s, 1 results before that"),
        ("oom", 60, False, "the guest ran out of memory"),
        ("off", 60, False, "before the job did"),
        ("splat", 60, True, "the guest's kernel complained: BUG: KASAN: wild access in f"),
        ("dies", 60, False, "the guest's kernel complained: BUG: KASAN: wild access in f"),
    ],
)
def test_bad_ends(run, name, seconds, fatal, said):
    with pytest.raises(boot.GuestFailed) as failed:
        run(name, seconds=seconds, fatal=fatal)
    assert said in str(failed.value)
    assert "last lines" in str(failed.value) or "complained" in said
    assert failed.value.rows == [{"n": 1}]
    assert qemus(os.getpid()) == set()


def test_of_a_kernel_that_may_die_its_complaints_are_the_result(run):
    died = {"died": ["BUG: KASAN: wild access in f"]}
    assert run("dies", fatal=True).rows == [{"n": 1}, died]


@pytest.mark.parametrize(
    ("line", "splat"),
    [
        (b"[    1.234567] WARNING: CPU: 0 PID: 1 at mm/swapfile.c:1 f+0x1/0x2", True),
        (b"[    1.234567] WARNING: possible circular locking dependency detected", True),
        (b"[   12.3][  T123] BUG: KCSAN: data-race in f / g", True),
        (b"[    1.234567] kernel BUG at mm/swapfile.c:1!", True),
        (b"[    1.234567] Oops: general protection fault, 0000 [#1]", True),
        (b"[    1.234567] list_add corruption. next->prev should be prev", True),
        (b"[   99.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!", False),
        (b"[   99.000000] rcu: INFO: rcu_sched self-detected stall on CPU", False),
        (b"[    0.100000] Spectre V2 : WARNING: Unprivileged eBPF is enabled", False),
        (b"WARNING: a program's own", False),
    ],
)
def test_what_a_complaint_of_the_kernel_is(line, splat):
    assert bool(boot.SPLAT.search(b"[    0.0] Linux\r\n" + line + b"\r\n")) == splat


def test_of_a_flood_the_first_complaint_and_the_end_are_kept():
    splat = b"[    1.234567] WARNING: CPU: 0 PID: 1 at mm/swapfile.c:1 f+0x1/0x2\n"
    console = bytearray(b"early\n" * 10**6 + splat + b"late\n" * 10**6 + b"the end\n")
    boot._bound(console)
    assert len(console) <= boot.MOST_CONSOLE and console.startswith(splat)
    assert console.endswith(b"the end\n")


def test_a_killed_guest(run):
    def kill():
        while not qemus(os.getpid()):
            time.sleep(0.1)
        for pid in qemus(os.getpid()):
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RunFailed, match="killed by signal 9"):
        run("hang")
    killer.join()


def test_two_at_once_do_not_disturb_each_other(run):
    found = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: run("counts", {"n": n}).rows}))
        for n in (3, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [{"n": i, "of": n} for i in range(n)] for n in (3, 5)}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_no_qemu_outlives_lorelab(laboratory, tmp_path, end):
    """Ctrl-C, and even a lorelab that is killed outright."""
    (tmp_path / "hang.py").write_text(f"def run(params):\n    {WORKLOADS['hang']}\n")
    program = (
        # A shell's background job, as this test's run may be, starts with Ctrl-C ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from pathlib import Path; from lorelab.lab import boot; "
        f"boot._run(Path({str(laboratory.kernel.image)!r}), Path({str(laboratory.guest.root)!r}), "
        f"Path({str(tmp_path)!r}), boot.Machine(), boot.Job(None, 'hang', {{}}, 60), 'tcg', True)"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    ours = set()
    while not ours:
        time.sleep(0.2)
        ours = qemus(child.pid)
    child.send_signal(end)
    child.wait(timeout=300)
    for _ in range(600):
        alive = [pid for pid in ours if Path(f"/proc/{pid}/exe").exists()]
        if not alive:
            break
        time.sleep(0.1)
    assert alive == []
