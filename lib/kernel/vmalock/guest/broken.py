"""Runs broken.c with a step of the lock left out: what the process sees, what the kernel says."""

import re
import subprocess
from pathlib import Path

from switches import mount, turned
from threads import counts

HERE = Path(__file__).parent
SAID = re.compile(r"\] ((?:WARNING|BUG|Oops|INFO): .*|list_\w+ corr.*|.*Bad page.*)")
PLACES = re.compile(r"CPU: \d+ PID: \d+ at |\+0x\w+/0x\w+|\bpid[:=]? ?\d+")
"""What differs from one complaint to the next."""
KCSAN = Path("/sys/kernel/debug/kcsan")
MOST = 40
"""Complaints of the kernel that a row carries, each once."""


def run(params):
    """Yield what each of `params["runs"]` came to.

    A run has `command` (arguments of broken.c) and `switches`. A row has the numbers that the
    program `said`, whether it `ended` by itself, the kernel's `counts`, and its `complaints`, in
    the kernel's words, with how often each came.
    """
    mount()
    # Complaints are this job's result; on the console they would be its failure.
    Path("/proc/sys/kernel/printk").write_text("1")
    for number, one in enumerate(params["runs"]):
        subprocess.run(["dmesg", "--clear"], check=True)
        watch("on")
        with turned(one["switches"] | {"vmalock/count": "on"}):
            before = counts()
            made = subprocess.run(
                [HERE / "broken", *one["command"]], capture_output=True, text=True
            )
            after = counts()
        watch("off")
        kernel = subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout
        complaints = {}
        for words in SAID.findall(kernel):
            words = re.sub(r"(0x)?[0-9a-f]{8,}", "ADDRESS", PLACES.sub("", words))
            complaints[words] = complaints.get(words, 0) + 1
        yield {
            "run": number,
            "ended": made.returncode == 0,
            "said": [int(n) for n in made.stdout.split()],
            "counts": {name: after[name] - before[name] for name in after},
            "complaints": dict(list(complaints.items())[:MOST]),
        }


def watch(state):
    """Let KCSAN look or not, where there is one: at the run, and nothing else of the kernel."""
    if KCSAN.exists():
        KCSAN.write_text(state)
