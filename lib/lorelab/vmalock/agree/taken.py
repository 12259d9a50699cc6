"""`vmalock/taken`: what follows from faulters.c, counted of its threads alone.

- A fault asks for its VMA's lock once, and with path=mmap it does not (`do_user_addr_fault()`). On
  7.3 madvise() asks, too, for the area whose pages it drops (`try_vma_read_lock()`). Where areas
  are private nobody is refused.
- Whoever was refused takes mmap_lock for reading, once, and with path=mmap every fault does. On
  6.12 whoever drops pages does as well (`madvise_lock()`), and on both whoever unmaps, who goes on
  as a reader. Only faults try it before they wait (`lock_mm_and_find_vma()`).
- How often mappers take it for writing, and if there is one only what it marks
  (`invariants.CALLS`): on 7.3 VMAs that it has marked do not count again (`vma_start_write()`).
"""

import pandas as pd

from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree import invariants
from lorelab.vmalock.params import Taken, Variant

RULED = (Variant.V6_12, Variant.V7_3)
LEFT = ("faults", "refused", "marks", "failed")


def agree(params: Taken, record: Record) -> Agreement:
    """Compare what follows from the program with what was counted."""
    variant = invariants.variant_with_rules(record, *RULED)
    kernel = record.counters.set_index("counter")["value"].astype(int)
    expected = _follows(params, kernel, variant == Variant.V7_3)
    return invariants.judge(expected, record.counters, LEFT, _identities(params))


def _identities(params: Taken) -> list[str]:
    """Which of them the kernel's own counters say."""
    unknown = invariants.faults(params) is None
    if params.path == "mmap":
        return ["reads"] if unknown else []
    identities = ["locked + refused"] if unknown else []
    if params.mode != "private":
        identities.append("reads")
    return identities


def _follows(params: Taken, kernel: pd.Series, later: bool) -> dict[str, int]:
    calls, drops = invariants.calls(params), invariants.drops(params)
    expected = {}
    if (faults := invariants.faults(params)) is not None:
        expected["faults"] = faults
    locking = params.path == "vma"
    expected["locked + refused"] = locking * kernel["faults"] + later * drops
    if params.mode == "private":
        expected["refused"] = 0
        if locking:
            expected["failed"] = 0
    expected["writes"] = calls.writes
    read = kernel["refused"] if locking else kernel["faults"]
    expected["reads"] = calls.downgrades + read + (0 if later else drops)
    if params.mappers <= 1:
        expected["marks"] = calls.marks + (0 if later else calls.marked_again)
    return expected
