"""`vmalock/threads`: what follows from faulters.c, counted by the kernel while it ran.

Where the order of events matters, some sums of counters still do not depend on it:

- A fault asks for its VMA's lock once (`do_user_addr_fault()`), and is then a success, a retry or
  an abort; with path=mmap none asks. Which faults there are follows where nobody shares an area
  (`invariants.faults()`).
- A lock that was got ends in a success, a retry, a miss (the VMA was detached) or a range (it no
  longer covered the address). The reasons add up to `vma_lock_abort` (`lock_vma_under_rcu()`).
- A fault that was not a success goes for mmap_lock (`step_mmap`).
- None is a retry: each area has an `anon_vma` before, and keeps it. None finds no VMA: an area
  grows and is split in one store to the tree. None misses its VMA or finds that it ends earlier but
  where mappings merge, and none at all is refused where areas are private.
- What a mapper marks (`invariants.CALLS`), waiting for readers or not, if there is one only. None
  waits where areas are private, for what it marks has no readers, nor with path=mmap.
"""

import pandas as pd

from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree import invariants
from lorelab.vmalock.agree.invariants import REASONS
from lorelab.vmalock.params import Threads, Variant

LEFT = (
    "pgfault",
    "vma_lock_abort",
    "vma_lock_miss",
    *REASONS,
    "step_marked",
    "step_marked_again",
    "step_wait",
    "rwsem_sleep_reader",
    "rwsem_sleep_writer",
    "rwsem_rlock_steal",
    "rwsem_rlock_handoff",
    "rwsem_wlock_handoff",
    "rwsem_opt_lock",
)


def agree(params: Threads, record: Record) -> Agreement:
    """Compare what follows from the program with what the kernel counted."""
    invariants.variant_with_rules(record, Variant.V6_12)
    kernel = record.counters.set_index("counter")["value"].astype(int)
    return invariants.judge(_follows(params, kernel), record.counters, LEFT, _identities(params))


def _identities(params: Threads) -> list[str]:
    """Which of them the kernel's own counters say."""
    identities = ["step_locked", "reasons of vma_lock_abort"]
    unknown = invariants.faults(params) is None
    if params.path == "vma" and unknown:
        identities.append("success + retry + abort")
    if params.path == "vma" or unknown:
        identities.append("step_mmap")
    return identities


def _follows(params: Threads, kernel: pd.Series) -> dict[str, int]:
    expected = {}
    if (faults := invariants.faults(params)) is not None:
        expected["pgfault"] = faults
    expected["success + retry + abort"] = 0 if params.path == "mmap" else kernel["pgfault"]
    ends = ("vma_lock_success", "vma_lock_retry", "vma_lock_miss", "step_range")
    expected["step_locked"] = kernel[list(ends)].sum()
    expected["reasons of vma_lock_abort"] = kernel["vma_lock_abort"]
    expected["step_mmap"] = kernel["pgfault"] - kernel["vma_lock_success"]
    never = ["vma_lock_retry", "step_no_vma"]
    if params.mode != "merging":
        never += ["vma_lock_miss", "step_range"]
    if params.mode == "private":
        never += ["vma_lock_abort", *REASONS]
    if params.mode == "private" or params.path == "mmap":
        never.append("step_wait")
    expected |= dict.fromkeys(never, 0)
    if params.mappers <= 1:
        calls = invariants.calls(params)
        expected["step_marked + step_wait"] = calls.marks
        expected["step_marked_again"] = calls.marked_again
    return expected
