"""What kdamond does, logged by BPF programs in the order in which it happens.

An entry is EVENT, little-endian:

    x, y, checks, n, age, kind, us

    kind 0  a look at the watermarks found x pages of y free, and has schemes rest for n jiffies, or
            work (n = 0)
    kind 1  damon_rand(x, y) returned x + n
    kind 2  a check of the page at x found it accessed (n = 1) or not (n = 0)
    kind 3  damon:damon_aggregated said region x..y has count n and this age
    kind 4  damon:damos_before_apply said the first scheme is about to be applied to region x..y
            with count n and this age; kind 5 the same of the second, and so on

With kind 2 y is the time in jiffies. `checks` counts the checks before, where kinds 1 and 2 are
not logged. `us` is CLOCK_MONOTONIC in microseconds, modulo 2**32. The log is an array in memory
that nobody reads until the end, so that logging takes no time from anybody but kdamond; entries
that come after it is full are counted and refused.
"""

import mmap
import os
import subprocess
from pathlib import Path

import probe

EVENT = 40
CAPACITY = 1 << 21
PROBES = Path(__file__).parent / "probes"


class Log:
    """A log that goes on until it is closed.

    `numbers` adds kinds 0, 1, 2, 4 and so on; without them `schemes` adds the time that actions
    take.
    """

    def __init__(self, numbers, schemes):
        from bcc import BPF

        tracing = Path("/sys/kernel/tracing")
        if not os.path.ismount(tracing):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", tracing], check=True)
        self.schemes = schemes and not numbers
        parts = ["log", "log_numbers" if numbers else "log_checks"]
        parts += ["log_actions"] if self.schemes else []
        parts += ["log_looks"] if schemes and numbers else []
        text = "".join((PROBES / f"{part}.h").read_text() for part in parts)
        kernel = probe.Kernel()
        kernel.check("log", text)
        flags = [f"-DCAPACITY={CAPACITY}", "-DADDRESS(symbol)=ADDRESS_##symbol"]
        self.bpf = BPF(text=text, cflags=[*flags, *kernel.definitions(text)])
        table = self.bpf["events"]
        self.memory = mmap.mmap(table.map_fd, CAPACITY * EVENT, prot=mmap.PROT_READ)

    def start_anew(self):
        for name in ("counts", "applying") if self.schemes else ("counts",):
            for which in range(2):
                self.bpf[name][which] = self.bpf[name].Leaf(0)

    def applying(self):
        """Nanoseconds that actions of schemes have taken."""
        return self.bpf["applying"][0].value if self.schemes else 0

    def read(self):
        """All entries, as bytes."""
        number = self.bpf["counts"][0].value
        if number > CAPACITY:
            raise RuntimeError(f"{number - CAPACITY} events lost: the log holds {CAPACITY}")
        if missed := probe.missed(self.bpf):
            raise RuntimeError(f"{missed} events lost: a CPU was at another program")
        return self.memory[: number * EVENT]
