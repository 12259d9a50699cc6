"""A run with the guest's agent at the other end of a pipe: what no kernel and no QEMU decides."""

import os
import subprocess
import sys
import time

import pytest

from lorelab.errors import BadInput
from lorelab.lab import boot

AGENT = (
    "import os, sys; sys.path.insert(0, sys.argv[1]); import agent; "
    # Of its own, as the guest's virtio port is; what programs print is the console's.
    "port = open('/proc/self/fd/1', 'wb'); os.dup2(2, 1); agent.port = lambda: port; agent.main()"
)
WORKLOADS = {
    "raises": "yield {'n': 1}; {}['missing']",
    "torn": "yield {'n': 1}; import gc, io; [f.write(b'\\n@lorelab 2 00000000 {}\\n')"
    " for f in gc.get_objects() if isinstance(f, io.BufferedWriter) and 'fd/1' in str(f.name)]",
    "hang": "yield {'n': 1}; import time; time.sleep(1000)",
    "pauses": "import time; time.sleep(2); yield {'n': 1}",
    "off": "yield {'n': 1}; import os; os._exit(3)",
    "chatter": "yield {'n': 1}; import sys; sys.stderr.write('WARNING: a program\\n')",
    "wants": "raise NotImplementedError('swpout of /sys/x, which came with 6.10'); yield {}",
    "flood": "yield {'n': 1}; import sys; sys.stderr.write('a line to no end\\n' * 40_000)",
    "counts": "yield from ({'n': n, 'of': params['n']} for n in range(params['n']))",
    "prints": "print('@lorelab 1 00000000 {}'); yield {'n': 1}",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run one of `WORKLOADS`: staged, watched and judged as in a guest."""
    for name, body in WORKLOADS.items():
        (tmp_path / f"{name}.py").write_text(f"def run(params):\n    {body}\n")
    monkeypatch.setattr(boot.needs, "BOOT", [])
    monkeypatch.setattr(boot, "fastest", lambda *_: "tcg")
    monkeypatch.setattr(
        boot, "_command", lambda i, r, folder, *_: [sys.executable, "-c", AGENT, f"{folder}/lab"]
    )

    def run(name, params=None, seconds=60.0, rows=None):
        job = boot.Job(None, name, params or {}, seconds, rows)
        nowhere = tmp_path / "kernel" / "bzImage"
        return boot.run(nowhere, tmp_path, tmp_path, boot.Machine(), job, quiet=True)

    return run


@pytest.mark.parametrize(
    ("name", "seconds", "said"),
    [
        ("hang", 5, "hang hung: not done after 5 s, 1 results before that"),
        ("off", 60, "QEMU ended with status 3 before the job did"),
        ("raises", 60, "raises failed in the guest: KeyError: 'missing'; the console's last lines"),
        ("torn", 60, "frame 2 from the guest is damaged"),
    ],
)
def test_bad_ends(run, name, seconds, said):
    with pytest.raises(boot.GuestFailed) as failed:
        run(name, seconds=seconds)
    assert said in str(failed.value)
    assert failed.value.rows == [{"n": 1}]


def test_a_guest_that_had_no_cpu_is_not_late(run, monkeypatch):
    """As if the host had not run it for 9 s of 10: it has ten times as long."""
    begun = time.monotonic()
    monkeypatch.setattr(boot, "_waited", lambda _: 0.9 * (time.monotonic() - begun))
    assert run("pauses", seconds=0.5).rows == [{"n": 1}]


def test_a_process_that_shares_a_cpu_waits_for_it():
    burn = "import os, sys, time; os.sched_setaffinity(0, {int(sys.argv[1])})\n"
    burn += "while time.process_time() < 1: pass\nprint(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", burn, str(min(os.sched_getaffinity(0)))]
    ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, **ends) as one, subprocess.Popen(words, **ends) as other:
        one.stdout.readline(), other.stdout.readline()
        waited = [boot._waited(process.pid) for process in (one, other)]
    # Both took a second of the one CPU, so that who came second waited while the other ran.
    assert max(waited) > 0.3


@pytest.mark.parametrize("name", ["chatter", "prints"])
def test_a_programs_chatter_is_no_complaint_and_no_result(run, name):
    assert run(name).rows == [{"n": 1}]


def test_a_console_that_floods_is_not_held(run, monkeypatch):
    monkeypatch.setattr(boot, "MOST_CONSOLE", 1 << 16)
    held = []
    bound = boot._bound
    monkeypatch.setattr(boot, "_bound", lambda console: (bound(console), held.append(len(console))))
    assert run("flood").rows == [{"n": 1}]
    assert max(held) <= boot.MOST_CONSOLE


def test_what_a_kernel_lacks_is_one_line(run):
    with pytest.raises(BadInput) as refused:
        run("wants")
    release = os.uname().release
    assert str(refused.value) == f"kernel {release} lacks swpout of /sys/x, which came with 6.10"


def test_too_few_results_are_no_whole_run(run):
    assert len(run("counts", {"n": 3}, rows=3).rows) == 3
    with pytest.raises(boot.GuestFailed, match="gave 2 results where 3 were due"):
        run("counts", {"n": 2}, rows=3)
