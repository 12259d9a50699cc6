"""How large a VMA and its lock are, as the slab allocator has them."""

from pathlib import Path

SLAB = Path("/sys/kernel/slab")
CACHES = ("vm_area_struct", "vma_lock")
FILES = {"size": "object_size", "objects": "objs_per_slab", "order": "order"}


def run(params):
    """Yield one row: of each cache that the kernel has, `size`, `objects` and `order`."""
    yield {
        cache: {what: int((SLAB / cache / file).read_text()) for what, file in FILES.items()}
        for cache in CACHES
        if (SLAB / cache).exists()
    }
