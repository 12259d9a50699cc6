"""Parameters of the example's one experiment."""

from typing import Literal

from lorelab.params import Params, param


class Faults(Params):
    """Read a mapping of a file that is in the page cache."""

    pages: int = param(1024, "size of the mapping", "pages", ge=1, le=4096)
    first: int = param(0, "index of its first page in a page table", "entries", ge=0, le=511)
    order: int = param(4, "fault_around_bytes is 4096 << order", ge=0, le=9)
    access: Literal["sequential", "backwards", "random"] = param("sequential", "order of the reads")
    stride: int = param(1, "every how many pages one is read", "pages", ge=1, le=4096)
    missing: int = param(
        0, "every how many pages one is not cached; 0: none", "pages", ge=0, le=4096
    )
    seed: int = param(1, "of the random order", ge=0, lt=1 << 64)
