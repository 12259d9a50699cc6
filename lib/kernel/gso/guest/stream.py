"""Streams with zero copy over two cards that do not segment, and what the kernel said of it."""

import re
import subprocess
import time
from pathlib import Path

import traffic
from switches import mount, turned

SAID = re.compile(r"\] ((?:WARNING|BUG|Oops|INFO): .*)")


def run(params):
    """Yield what became of each of `params["runs"]`, as `traffic.py` does.

    A row has also `complaints`: in the kernel's words, each with how often it came.
    """
    # Complaints are this job's result; on the console they would be its failure.
    Path("/proc/sys/kernel/printk").write_text("1")
    mount()
    traffic.attach()
    traffic.up("wire")
    for number, wanted in enumerate(params["runs"]):
        subprocess.run(["dmesg", "--clear"], check=True)
        # Each run has its own WARN_ON_ONCE().
        Path("/sys/kernel/debug/clear_warn_once").write_text("1")
        with turned(wanted["switches"]):
            found = traffic.one(wanted)
            # Past the last acknowledgements, with which the socket goes.
            time.sleep(1)
        kernel = subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout
        complaints = {}
        for words in SAID.findall(kernel):
            words = re.sub(r"CPU: \d+ PID: \d+ at |\+0x\w+/0x\w+", "", words)
            complaints[words] = complaints.get(words, 0) + 1
        yield {"run": number, **found, "complaints": complaints}
