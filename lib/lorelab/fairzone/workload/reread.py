"""The plan of `fairzone/reread`: which pages are written and read when."""

from lorelab.fairzone.params import Reread
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.files import TWO_FILES_READS

NAME = "fairzone/reread"

PARTS = 50
"""Parts of the data in the map of what is cached."""


def pages_of(params: Reread) -> int:
    """Pages of the data."""
    return params.mib * PAGES_A_MIB * params.data_percent // 100


def plan(params: Reread, pages: int) -> list[tuple[str, bool, int, int]]:
    """Phases: name, whether it writes, first page, pages."""
    if params.workload != "two-files":
        return [("write", True, 0, pages), ("read", False, 0, pages)]
    half = pages // 2
    return [
        (f"file{file + 1}_read{time + 1}", False, file * half, half)
        for file in range(2)
        for time in range(TWO_FILES_READS)
    ]
