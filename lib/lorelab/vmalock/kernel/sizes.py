"""`vmalock/sizes` on a real kernel: what the slab allocator takes for a VMA and its lock."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, config, variant
from lorelab.vmalock.params import Sizes

NAME = "vmalock/sizes"
UNITS = {"size": "bytes", "objects": "objects", "order": "order"}


def _request(batch: list[Sizes]) -> Request:
    # A cache that is merged with others has the size of the largest.
    machine = Machine(memory_mib=512, append=("slab_nomerge",))
    job = Job(DESIGN, "sizes", {}, 60.0, 1)
    return Request(machine, job, patched=True, config=config(batch[0].lock))


def _counters(params: Sizes, measured: Measured, run: int) -> pd.DataFrame:
    """`CACHE.size` (of the struct), `CACHE.objects` (in a slab), `CACHE.order` (2**order pages).

    All of step 0, of the caches vm_area_struct and vma_lock, as far as the kernel has them.
    """
    [row] = measured.rows
    columns = {
        f"{cache}.{what}": (UNITS[what], [value])
        for cache, sizes in row.items()
        for what, value in sizes.items()
    }
    return table(NAME, variant(measured), "kernel", columns, first=0)


measure = Measurement(NAME, _request, _counters)
