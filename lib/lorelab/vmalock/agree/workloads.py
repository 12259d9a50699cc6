"""`vmalock/workloads`: what follows from the program, in whatever order its threads get on.

Each is counted of the program's own threads, and has to be equal. On 6.12 and 7.3 alike:

- A page fault in user mode asks once for its VMA's lock (`do_user_addr_fault()`), a receive that
  has a page to map likewise (`find_tcp_vma()`); with path=mmap neither does. So `locked` and
  `refused` together are faults and receives. The kernel's own `vma_lock_abort` is `refused`, and
  the sum of its reasons.
- A launch has the faults and the writers of the model's `vmalock/launch`, and none is refused, for
  nobody changes an area but its thread. Of its faults the first one of each area takes mmap_lock
  for reading, once: at once for its `anon_vma` (`__vmf_anon_prepare()`), or when it is tried again.
- A fork takes mmap_lock for writing of the parent and of the child, and marks each VMA of both
  (`dup_mmap()`). On 6.12 the count has the parent's alone: the child's are marked by
  vm_flags_clear(), an inline function that was compiled before the count's macro is defined.
- A madvise() that changes flags is a writer that marks one VMA (`madvise_update_vma()`). A receive
  takes mmap_lock for reading if it was refused its VMA.
"""

import pandas as pd

from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree.invariants import REASONS, judge, variant_with_rules
from lorelab.vmalock.experiments import launch
from lorelab.vmalock.params import AREAS, Launch, Variant, Workloads

RULED = (Variant.V6_12, Variant.V7_3)
LEFT = ("vma_lock_retry", *REASONS, "rwsem_sleep_reader", "rwsem_sleep_writer")
"""Counters of the kernel that the order of events decides."""


def agree(params: Workloads, record: Record) -> Agreement:
    """Compare what follows from the program with what the kernel counted."""
    variant = variant_with_rules(record, *RULED)
    kernel = record.counters.set_index("counter")["value"].astype(int)
    expected = {"locked + refused": _asked(params, kernel)}
    expected |= _follows(params, kernel, variant)
    if "vma_lock_abort" in kernel:
        expected["vma_lock_abort"] = kernel["refused"]
        expected["reasons of vma_lock_abort"] = kernel["refused"]
    return judge(expected, record.counters, LEFT, _identities(params))


def _identities(params: Workloads) -> list[str]:
    """Which of them the kernel's own counters say."""
    identities = ["vma_lock_abort", "reasons of vma_lock_abort"]
    if params.path == "vma":
        identities += {"fork": ["locked + refused"], "receive": ["reads"]}.get(params.workload, [])
    return identities


def _asked(params: Workloads, kernel: pd.Series) -> int:
    """How often a VMA's lock is asked for."""
    if params.path == "mmap":
        return 0
    return kernel["faults"] + (kernel["receives"] if params.workload == "receive" else 0)


def _follows(params: Workloads, kernel: pd.Series, variant: Variant) -> dict[str, int]:
    """What one workload comes to, by counter."""
    if params.workload == "launch":
        return _launch(params, variant)
    if params.workload == "fork":
        forks, marked = kernel["forks"], 2 if variant == Variant.V7_3 else 1
        return {"writes": 2 * forks, "marks": forks * kernel["vmas"] * marked}
    reads = kernel["receives"] if params.path == "mmap" else kernel["refused"]
    return {"faults": 0, "writes": params.size, "marks": params.size, "reads": reads}


def _launch(params: Workloads, variant: Variant) -> dict[str, int]:
    modelled = variant if params.path == "vma" else Variant.MMAP_LOCK
    launched = Launch(
        threads=params.threads, areas=AREAS, pages=params.size, cpus=params.cpus, variant=modelled
    )
    model = launch.simulate(launched).set_index("counter")["value"].astype(int)
    aborts = ("abort_early", "abort_trylock", "abort_late")
    first = params.threads * AREAS
    return {
        "faults": model["faults"],
        "writes": model["writes"],
        "refused": model[list(aborts)].sum(),
        "reads": model["mmap"] if params.path == "mmap" else first,
    }
