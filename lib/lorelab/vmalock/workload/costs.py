"""What each part of a fault and of a writer costs: instructions, and times that only hardware has.

Instructions are turned into time at `Timed.per_ns`: 3 GHz and 1.3 instructions a cycle are 4. Times
of cache lines, wakeups and context switches can't be had from an emulator. All are parameters whose
defaults are assumptions, of the size that a server of two sockets has; what depends on each shows
`lorelab.vmalock.pages.assumptions.sensitivity`.
"""

from lorelab.vmalock.params import Timed

INSTRUCTIONS = {
    "fault": 6566,  # an anonymous fault of 4 KiB, whole
    "walk": 600,  # of it: entry, and the lookup of the VMA
    "checks": 40,  # of it: vma_start_read() and vma_end_read() beside their atomics
    "copy": 160,  # a speculative fault copies the VMA, 168 bytes, and counts it
    "anon_vma": 1200,  # __anon_vma_prepare()
    "mark": 60,  # vma_start_write() beside its atomics
    "mmap": 9000,  # under mmap_lock, of mmap() of an anonymous area
    "mprotect": 8000,  # under mmap_lock, of mprotect() of one VMA
    "duplicate": 959,  # of a VMA without pages by fork
    "clone": 30_000,  # of a thread, with its start
}
"""`fault` and `duplicate` are medians of the recorded runs of `vmalock/instructions`, lock=on; the
others are estimates of their size. On a kernel built without the lock a fork takes some 180 less of
each VMA, of which the mark is a part: its lock is an object of its own, allocated with the VMA."""


def ns(name: str, params: Timed) -> int:
    """Time of a part [ns]."""
    return INSTRUCTIONS[name] // params.per_ns


def body(params: Timed) -> int:
    """Time of a fault between locking and unlocking [ns]."""
    return ns("fault", params) - ns("walk", params) - ns("checks", params)


def costs(params: Timed) -> dict[str, int]:
    """Costs of `lorelab.vmalock.model.state.GLOBALS` [ns]."""
    return {
        "local": params.local_ns,
        "remote": params.remote_ns,
        "walk": ns("walk", params),
        "checks": ns("checks", params),
        "copy": ns("copy", params),
        "anon_vma": ns("anon_vma", params),
        "mark": ns("mark", params),
        "wake": params.wake_ns,
        "start": params.start_ns,
        "switch": params.switch_ns,
        # sysctl_sched_base_slice, and RWSEM_WAIT_TIMEOUT at HZ=1000
        "slice": 3_000_000,
        "handoff": 4_000_000,
    }
