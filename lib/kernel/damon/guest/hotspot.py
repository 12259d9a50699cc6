"""A program with a hot range, watched by DAMON anew until the range stands out, many times.

BPF programs sum up each window of each kdamond. What is looked at while a run goes on is one entry
a window, twice a second, so that nobody but kdamond and the program has much of the CPU.
"""

import time
from ctypes import c_uint64
from pathlib import Path

import masim
import probe
import sysfs
from switches import turned

HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SOURCE = Path(__file__).parent / "probes" / "hotspot.h"
EVERY = 0.5


class Watch:
    """Sums of the windows of all kdamonds; begun anew with each run."""

    def __init__(self):
        from bcc import BPF

        self.bpf = BPF(text=SOURCE.read_text())

    def begin(self, low, high):
        self.ended()
        for name in ("current", "done"):
            self.bpf[name].clear()
        for which, value in enumerate((low, high)):
            self.bpf["hot"][which] = c_uint64(value)
            self.bpf["wide"][which] = c_uint64(0)

    def ended(self):
        """Windows that ended since this was asked, but for the last of each kdamond."""
        found = []
        while True:
            try:
                w = self.bpf["ended"].pop()
            except KeyError:
                return found
            found.append([w.who, w.at, w.regions, w.cuttable, w.draws, w.held])

    def done(self, pid):
        table = self.bpf["done"]
        return table[table.Key(pid)].value if table.Key(pid) in table else 0

    def lost(self):
        return self.bpf["lost"][0].value + probe.missed(self.bpf)

    def wide(self):
        return [self.bpf["wide"][which].value for which in range(2)]


def run(params):
    """Yield a row for each run of each of `params["programs"]`.

    A program has `masim`, the standard input of masim.c; `hot`, the number of its hot region;
    `huge`, whether it gets huge pages; and `wanted`. One of these has `number`, which its rows
    carry; `attrs` (`sysfs.configure`); `kdamonds`, how many watch; `switches`; `windows`,
    after which it is given up; and `runs`. Those of a program are measured in turns.
    """
    # Most of the memory is never touched.
    Path("/proc/sys/vm/overcommit_memory").write_text("1")
    watch = Watch()
    for program in params["programs"]:
        HUGE.write_text("always" if program["huge"] else "madvise")
        with masim.started(program["masim"]) as (process, said):
            start, size = said["region"][program["hot"]]
            process.send_signal(masim.BEGIN)
            for turn in range(max(wanted["runs"] for wanted in program["wanted"])):
                for wanted in program["wanted"]:
                    if turn >= wanted["runs"]:
                        continue
                    with turned(wanted["switches"]):
                        found = one(process.pid, wanted, watch, start, start + size)
                    yield {"number": wanted["number"], **found}


def one(pid, wanted, watch, low, high):
    """Watch until the first kdamond has told the hot range apart, or for so many windows."""
    kdamonds = range(wanted["kdamonds"])
    sysfs.configure(pid, wanted["attrs"], kdamonds=len(kdamonds))
    watch.begin(low, high)
    begun = time.monotonic_ns()
    for k in kdamonds:
        sysfs.turn("on", k)
    first, before = sysfs.kdamond(), watch.done(pid)
    windows, isolated, number = [], False, 0
    while not isolated and number <= wanted["windows"]:
        time.sleep(EVERY)
        new = watch.ended()
        windows += new
        mine = [w for w in new if w[0] == first]
        number += len(mine)
        isolated = any(2 * w[-1] >= high - low for w in mine)
    worked, sleeps = masim.work(first)
    row = {
        "first": first,
        "ns": time.monotonic_ns() - begun,
        "worked": worked,
        "sleeps": sleeps,
        "checks": watch.done(first),
        "draws": watch.done(pid) - before,
        "wide": watch.wide(),
    }
    for k in kdamonds:
        sysfs.turn("off", k)
    if lost := watch.lost():
        raise RuntimeError(f"{lost} events lost: counts of windows and draws are too low")
    return {**row, "windows": windows}
