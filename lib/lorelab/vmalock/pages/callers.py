"""What writers of 7.3.4 read once they have a VMA: every call of vma_start_write(), read by hand.

The wait for readers is no acquire: what a writer then loads may be older than what the last reader
stored. Readers store page table entries, under their lock; upper levels of the page table, which
writers read without one; an anon_vma, under mmap_lock, which the writer takes; and, in
madvise(MADV_GUARD_INSTALL), the bit VM_MAYBE_GUARD of the VMA's flags.
"""

import pandas as pd

TABLES = "upper levels of the page table, without a lock"
FLAGS = "the VMA's flags"
BOTH = "the VMA's flags, and upper levels of the page table without a lock"
NOTHING = "nothing that a reader stores without a lock of the writer's"
ORDERED = "page tables, once vma_mark_detached() has the count at 0: an acquire"
NOBODY = "a VMA that no reader can have: new, or detached before"

CALLS = (
    ("include/linux/mm.h:1041", "vm_flags_set", FLAGS),
    ("include/linux/mm.h:1049", "vm_flags_clear", FLAGS),
    ("include/linux/mm.h:1070", "vm_flags_mod", FLAGS),
    ("mm/khugepaged.c:1354", "collapse_huge_page", TABLES),
    ("mm/madvise.c:179", "madvise_update_vma", NOTHING),
    ("mm/memory.c:400", "free_pgtables", NOBODY),
    ("mm/memory.c:413", "free_pgtables", NOBODY),
    ("mm/mempolicy.c:572", "mpol_rebind_mm", NOTHING),
    ("mm/mempolicy.c:1818", "set_mempolicy_home_node", FLAGS),
    ("mm/mlock.c:445", "mlock_vma_pages_range", TABLES),
    ("mm/mlock.c:509", "mlock_fixup", NOTHING),
    ("mm/mmap.c:1742", "dup_mmap, of the parent", BOTH),
    ("mm/mmap.c:1784", "dup_mmap, of the child", NOBODY),
    ("mm/mprotect.c:836", "mprotect_fixup", TABLES),
    ("mm/mremap.c:1275", "unmap_source_vma", FLAGS),
    ("mm/mremap.c:1282", "unmap_source_vma", FLAGS),
    ("mm/mremap.c:1429", "move_vma", BOTH),
    ("mm/mseal.c:59", "__mseal_range", FLAGS),
    ("mm/pagewalk.c:450", "process_vma_walk_lock", TABLES),
    ("mm/userfaultfd.c:2255", "userfaultfd_set_ctx", FLAGS),
    ("mm/userfaultfd.c:4390", "userfaultfd_set_mode", NOTHING),
    ("mm/vma.c:590", "__split_vma", TABLES),
    ("mm/vma.c:591", "__split_vma, of the new one", NOBODY),
    ("mm/vma.c:984", "vma_merge_existing_range", TABLES),
    ("mm/vma.c:989", "vma_merge_existing_range", BOTH),
    ("mm/vma.c:998", "vma_merge_existing_range", BOTH),
    ("mm/vma.c:1264", "vma_expand", BOTH),
    ("mm/vma.c:1301", "vma_expand", BOTH),
    ("mm/vma.c:1347", "vma_shrink", TABLES),
    ("mm/vma.c:1537", "vms_gather_munmap_vmas", ORDERED),
    ("mm/vma.c:1937", "vma_link", NOBODY),
    ("mm/vma.c:2367", "mm_take_all_locks", NOTHING),
    ("mm/vma.c:2717", "__mmap_new_vma", NOBODY),
    ("mm/vma.c:3073", "do_brk_flags", NOBODY),
    ("mm/vma.c:3302", "expand_upwards", NOTHING),
    ("mm/vma.c:3380", "expand_downwards", NOTHING),
    ("arch/powerpc/kvm/book3s_hv_uvmem.c:413", "kvmppc_memslot_page_merge", BOTH),
)
"""Place in 7.3.4 of each call of vma_start_write() or vma_start_write_killable(), the function it
is in, and what is read next until another of these calls."""

FLAGS_BEFORE = (
    "mm/madvise.c:179",
    "mm/mlock.c:445",
    "mm/mprotect.c:836",
    "mm/vma.c:590",
    "mm/vma.c:984",
)
"""Of these calls, those after which flags are stored that were read before: the VMA's, or of a
split or merge those of the VMA that is left. VM_MAYBE_GUARD, set in between by a reader, is not
among them. Where madvise() gives a name, the flags that are stored are those of the VMA before it
was merged."""


def calls() -> pd.DataFrame:
    """A row for each of `CALLS`: `call`, `function`, `reads next`, and when `flags` were read."""
    table = pd.DataFrame(CALLS, columns=["call", "function", "reads next"])
    before = table["call"].isin(FLAGS_BEFORE)
    return table.assign(flags=before.map({True: "read before the call", False: ""}))


def counted() -> pd.Series:
    """How many calls there are of each kind, by what is read next."""
    return calls()["reads next"].value_counts(sort=False).rename("calls")
