"""Counts, on any kernel, what threads do that call themselves `counted` (section.h).

By the kernel's trace points, and by its functions under kprobes. Takes HIST_TRIGGERS and
KPROBE_EVENTS.
"""

from contextlib import contextmanager
from pathlib import Path

from histograms import TRACING, histogram, mount, trigger

MARKS = ("__vmalock_start_write", "__vma_start_write")
"""What marks a VMA: of 6.12 with the patches, which takes VMAs that are marked, too; of 7.3."""
LOCK = "r4096:lorelab/{} lock_vma_under_rcu vma=$retval:u64"
EVENTS = {
    "faults": ("exceptions/page_fault_user", "common_pid", ""),
    "locked": ("lorelab/locked", "common_pid", "&& vma != 0"),
    "refused": ("lorelab/refused", "common_pid", "&& vma == 0"),
    "marks": ("lorelab/marks", "common_pid", ""),
    "taken": ("mmap_lock/mmap_lock_acquire_returned", "common_pid,write,success", ""),
}
"""Trace point, what its hits are told apart by, and which of them count."""


@contextmanager
def counting(found):
    """Fill `found` at the end: by what was counted, hits by thread.

    `faults` in user mode; lock_vma_under_rcu() that `locked` a VMA or was `refused` it; `marks`;
    `reads` and `writes` of mmap_lock, and trylocks of it that `failed`.
    """
    mount()
    functions = {line.split()[2] for line in Path("/proc/kallsyms").read_text().splitlines()}
    marks = [name for name in MARKS if name in functions]
    if not marks:
        raise NotImplementedError(f"one of the functions {', '.join(MARKS)}")
    made = (LOCK.format("locked"), LOCK.format("refused"), f"p:lorelab/marks {marks[0]}")
    (TRACING / "kprobe_events").write_text("\n".join(made))
    triggers = {
        event: f'hist:keys={keys}:size=16384 if comm == "counted" {which}'
        for event, keys, which in EVENTS.values()
    }
    for event, text in triggers.items():
        if not (TRACING / "events" / event / "trigger").exists():
            raise NotImplementedError(f"the tracepoint {event}")
        trigger(event, text)
    yield
    hits = {name: histogram(event) for name, (event, _, _) in EVENTS.items()}
    for event, text in triggers.items():
        trigger(event, f"!{text}")
    for line in (TRACING / "kprobe_profile").read_text().splitlines():
        name, _, missed = line.split()
        if int(missed):
            raise RuntimeError(f"the kprobe {name} missed {missed} calls")
    (TRACING / "kprobe_events").write_text("")
    taken = hits.pop("taken")
    found |= {name: {thread: n for (thread,), n in by.items()} for name, by in hits.items()}
    found |= {"reads": {}, "writes": {}, "failed": {}}
    for (thread, write, success), n in taken.items():
        kind = found["failed" if not success else "writes" if write else "reads"]
        kind[thread] = kind.get(thread, 0) + n
