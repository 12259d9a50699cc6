"""What the page cache of a block device takes besides its pages (fs/buffer.c, lib/xarray.c, SLUB).

        buffer_head        one a page that was written, until the page is reclaimed
        radix_tree_node    one for 64 pages of the file; with shadows in it, it stays

Both are objects in slabs, which are pages of a zone and on no LRU.

Simplification: slabs are emptied in the order in which they were filled, as the LRU is.
"""

import numpy as np

from lorelab.fairzone.model.lru import give_frame, zone_of
from lorelab.fairzone.model.pcp import free_page
from lorelab.numerics import ONE, U, forceinline, outline

BUFFER_HEADS = U(39)
"""Buffer heads of 104 bytes in a slab of one page."""
KEPT = U(12)
"""Empty slabs that SLUB keeps: cpu_partial_slabs (7) and min_partial (5) of this cache."""
NODE_PAGES = U(14 * 64)
"""Pages of the file in the nodes of one slab: nodes of 576 bytes, in 8 KiB."""
SLAB = np.dtype([(name, "u8") for name in ("first", "nr", "free")])
"""Place of the oldest slab in the ring of slabs, slabs, and buffer heads in them that are free."""


@forceinline
def add_slab(mm, frame):
    """new_slab(): a page for buffer heads."""
    slab = mm.slab[0]
    mm.slabs[(slab.first + slab.nr) % U(len(mm.slabs))] = frame
    slab.nr += ONE
    slab.free += BUFFER_HEADS


@outline
def free_buffer_head(mm):
    """Free one; the oldest slab goes once more than are kept are empty."""
    slab = mm.slab[0]
    slab.free += ONE
    if slab.free > BUFFER_HEADS * (KEPT + ONE):
        frame = U(mm.slabs[slab.first])
        slab.first = (slab.first + ONE) % U(len(mm.slabs))
        slab.nr -= ONE
        slab.free -= BUFFER_HEADS
        z = zone_of(mm.frames, frame)
        give_frame(mm.frames, frame, z)
        free_page(mm.node, z)
