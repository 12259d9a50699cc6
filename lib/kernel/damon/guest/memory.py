"""What becomes of the memory of a process while schemes are applied to it."""

import ctypes
import re
import subprocess
import threading
from pathlib import Path

BLOCK = Path("/sys/block/zram0")
DEVICE = Path("/dev/zram0")
KHUGEPAGED = Path("/sys/kernel/mm/transparent_hugepage/khugepaged")
EVENTS = {
    "paged_out": "pswpout",
    "refaults": "pswpin",
    "huge_faults": "thp_fault_alloc",
    "collapses": "thp_collapse_alloc",
    "splits": "thp_split_page",
    "pmd_splits": "thp_split_pmd",
}
"""Counters of /proc/vmstat, by what they are called here."""
EVERY = 0.1
MIB = 1 << 20


def swap():
    """Swap on a compressed RAM disk."""
    if not BLOCK.exists():
        raise NotImplementedError(f"{BLOCK}; it takes CONFIG_ZRAM")
    (BLOCK / "disksize").write_text(str(512 * MIB))
    subprocess.run(["mkswap", DEVICE], check=True, stdout=subprocess.DEVNULL)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.swapon(str(DEVICE).encode(), 0):
        raise OSError(ctypes.get_errno(), "swapon")


class Watch:
    """Anonymous memory of a process, read every 100 ms; events are counted from here on."""

    def __init__(self, pid):
        # Sends khugepaged to sleep until a process registers; else it is in its pause of 10 s.
        file = KHUGEPAGED / "scan_sleep_millisecs"
        file.write_text(file.read_text())
        self.process = Path(f"/proc/{pid}")
        self.events = events()
        self.khugepaged_ns = khugepaged_ns()
        self.own = kib(self.process / "status", "RssAnon") * 1024
        self.resident = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()

    def sample(self):
        while not self.ended.wait(EVERY):
            self.resident.append(kib(self.process / "status", "RssAnon"))

    def end(self):
        now = events()
        took = khugepaged_ns() - self.khugepaged_ns
        self.ended.set()
        self.thread.join()
        return {name: now[name] - self.events[name] for name in EVENTS} | {
            "khugepaged_ns": took,
            "own": self.own,
            "resident_mean": sum(self.resident) / len(self.resident) * 1024,
            "swapped": kib(self.process / "status", "VmSwap") * 1024,
            "huge": kib(self.process / "smaps_rollup", "AnonHugePages") * 1024,
        }


def events():
    lines = Path("/proc/vmstat").read_text().splitlines()
    counted = dict(line.split() for line in lines)
    return {name: int(counted[field]) for name, field in EVENTS.items()}


def khugepaged():
    """Process id of khugepaged."""
    for file in Path("/proc").glob("[0-9]*/comm"):
        if file.read_text() == "khugepaged\n":
            return int(file.parent.name)
    raise NotImplementedError("khugepaged; it takes CONFIG_TRANSPARENT_HUGEPAGE")


def khugepaged_ns():
    return int(Path(f"/proc/{khugepaged()}/schedstat").read_text().split()[0])


def free():
    """Thousandths of memory that are free, as damos_get_wmark_metric_value() has it."""
    info = Path("/proc/meminfo")
    return kib(info, "MemFree") * 1000 // kib(info, "MemTotal")


def kib(file, name):
    """A size from one of /proc's files."""
    return int(re.search(rf"^{name}:\s*(\d+) kB", file.read_text(), re.MULTILINE)[1])
