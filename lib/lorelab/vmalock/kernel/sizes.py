"""`vmalock/sizes` on a real kernel: what the slab allocator takes for a VMA and its lock."""

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, of_lock, variant
from lorelab.vmalock.params import Sizes

NAME = "vmalock/sizes"
UNITS = {"size": "bytes", "objects": "objects", "order": "order"}


def measure(wanted: list[Sizes], lab: Lab) -> list[Record]:
    """Ask a kernel of each state of the lock.

    Returns
    -------
    list of Record
        As asked, all of step 0: `CACHE.size` (of the struct), `CACHE.objects` (in a slab) and
        `CACHE.order` (a slab has 2**order pages) of the caches vm_area_struct and vma_lock, as far
        as the kernel has them.
    """
    return by_boot(
        wanted, lambda p: p.lock, lambda runs: _measure(runs, of_lock(runs[0].lock, lab))
    )


def _measure(wanted: list[Sizes], lab: Lab) -> list[Record]:
    job = Job(DESIGN, "sizes", {}, 60.0, 1)
    # A cache that is merged with others has the size of the largest.
    measured = run(Machine(memory_mib=512, append=("slab_nomerge",)), job, lab, patched=True)
    [row] = measured.rows
    counters = {
        f"{cache}.{what}": (UNITS[what], [value])
        for cache, found in row.items()
        for what, value in found.items()
    }
    laid = table(NAME, variant(measured), "kernel", counters, first=0)
    return [measured.record(NAME, params, laid) for params in wanted]
