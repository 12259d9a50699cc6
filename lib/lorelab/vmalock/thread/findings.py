"""What maintainers of memory management would want to know."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Literal, NamedTuple

from lorelab.checker import path
from lorelab.experiments import experiment
from lorelab.judging import reproduced
from lorelab.judging.findings import ARCHIVES, LOOKED, Finding, PriorArt
from lorelab.vmalock.model.protocol.configurations import MODEL
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.pages import callers, herd, wraps
from lorelab.vmalock.params import Collision, Overlap, Variant


def _taken() -> str:
    outcome = wraps.old_mark(Variant.V6_12, "unmap", Rule.ALIVE)
    freed = len(path(MODEL, outcome.explored, outcome.setting, outcome.index))
    outcome = wraps.old_mark(Variant.V7_3, "flags", Rule.EXCLUDED)
    inside = len(path(MODEL, outcome.explored, outcome.setting, outcome.index))
    params = Collision()
    met = experiment("vmalock/collision").recorded(params).counters
    steps = met[(met["counter"] == "taken") & (met["value"] > 0)]["step"].tolist()
    assert len(steps) == 1, "one writer and no other"
    return (
        f"one fault and one writer are enough: on 6.12.117 munmap() frees the VMA under the fault "
        f"after {freed} steps, on 7.3 mprotect() and the fault are both in the VMA after {inside} "
        f"(every interleaving); on a booted 6.12.117, its sequence moved to {params.n} writers "
        f"before the wrap, writer {', '.join(map(str, steps))} and no other believed that it had "
        f"write-locked a VMA that it had not (exact). With a fault held inside, {_waited('lab')}; "
        f"with the numbers reset, {_waited('reset')} (n = 1 each)"
    )


def _waited(config: Literal["lab", "reset"]) -> str:
    """Which writers waited for the fault in their VMA, and what became of the fault."""
    parts = []
    for writer in ("mprotect", "munmap"):
        params = Overlap(writer=writer, config=config)
        met = experiment("vmalock/overlap").recorded(params).counters
        values = met.set_index("counter")["value"]
        complaints = [
            name.removeprefix("kernel: ") for name in values.index if name.startswith("kernel")
        ]
        waited = "returned before it" if values["returned"] else "waited for it"
        died = f", and the kernel died of it ({complaints[0]})" if complaints else ""
        parts.append(f"{writer}() {waited}{died}")
    return ", ".join(parts)


def _release() -> str:
    verdicts = herd.verdicts().set_index("test")
    lkmm = verdicts["kernel_model"]
    return (
        f"herd7 says {lkmm['L4']} of a writer's late load that sees what the next reader stores, "
        f"and {lkmm['L4-release']} were it a release; of what callers do, {lkmm['L4-mmap-lock']} "
        f"and {lkmm['L4-page-table']} (exact)"
    )


def _acquire() -> str:
    kernels, arms = herd.recorded("whole"), herd.recorded("arm")
    for model in (kernels, arms):
        assert model["acquire"] == model["flags-acquire"] == "Never", "an acquire orders it"
    return (
        f"herd7 says {kernels['after-flag']} of a writer that misses the page table of a fault "
        f"that ends after the writer's flag is set, under the kernel's model, and "
        f"{arms['after-flag']} under Arm's; {kernels['before-flag']} of a fault that ends before, "
        f"{kernels['woken']} of one that wakes the writer, {kernels['acquire']} with an acquire. "
        f"Of a writer that drops the last reader's VM_MAYBE_GUARD it says {kernels['flags']} and "
        f"{arms['flags']}, {kernels['flags-acquire']} and {arms['flags-acquire']} with an acquire "
        "(exact). x86 forbids both; no arm64 machine was tried"
    )


def _after(*kinds: str) -> int:
    """How many calls of vma_start_write() are followed by such a read."""
    return int(callers.counted()[list(kinds)].sum())


LOCK = "the VMA's lock"
RANGES = {
    "mmap_lock": "in a range that reaches into the next mapping (under mmap_lock)",
    LOCK: "in a range inside one mapping (on 7.3.4 under the VMA's lock)",
}
"""What the reproducer installs; which lock a kernel takes for it is the kernel's."""
PATCHED = "7.3.4 with the patches"


class Guards(NamedTuple):
    """Guard pages of a run that were installed under one lock."""

    pages: int
    lost: int
    read: int
    """Lost ones that a child read."""


def guards(run: reproduced.Answer) -> dict[str, Guards]:
    """Guard pages under each lock, as the reproducer counted them in a run."""
    counted = re.compile(r"under (.+): (\d+) guard pages, (\d+) lost, children read (\d+)")
    return {lock: Guards(*map(int, n)) for lock, *n in counted.findall(run.text)}


def least_lost(runs: Iterable[reproduced.Answer]) -> Guards:
    """Guard pages under the VMA's lock of the run that lost the smallest part of them."""
    return min((guards(run)[LOCK] for run in runs), key=lambda run: run.lost / run.pages)


def chance_of_none(rate: Guards, pages: int) -> float:
    """The chance to lose none of some pages, if each is lost independently at the rate of a run."""
    return (1 - rate.lost / rate.pages) ** pages


def _of_runs(runs: Iterable[Guards]) -> str:
    """What each run lost: a run gets through more or fewer pages, and none is like another."""
    runs = list(runs)
    lost = ", ".join(f"{run.lost} of {run.pages}" for run in runs)
    read = [run.read for run in runs if run.lost]
    return lost + (f" (children read {', '.join(map(str, read))})" if read else "")


def _guards() -> str:
    answers = reproduced.recorded("vmalock/lost-guard")
    kernels = [f"guard pages lost in each run, first {', then '.join(RANGES.values())}"]
    for kernel, runs in reproduced.runs_of(answers).items():
        parts = [_of_runs(guards(run)[lock] for run in runs) for lock in RANGES]
        kernels.append(f"{kernel}: {'; '.join(parts)}")
    after = [guards(run)[LOCK] for run in answers if run.kernel == PATCHED]
    before = [run for run in answers if run.kernel == "7.3.4"]
    least, pages = least_lost(before), sum(run.pages for run in after)
    lost = sum(run.lost for run in after)
    assert lost == 0 < least.lost, "guard pages are lost in each run without the patches"
    kernels.append(
        f"Each of {len(before)} runs of our 7.3.4 lost some without the patches, none of "
        f"{len(after)} with them. If pages were lost independently, at the lowest rate of those "
        f"without ({least.lost} of {least.pages}), the chance to lose 0 of {pages} would be "
        f"{chance_of_none(least, pages):.1g}; the rates of the runs differ too much for that to "
        "be more than a guide"
    )
    return ". ".join(kernels)


STICKY = {
    "gu": "`gu` in smaps",
    "SIGSEGV": "SIGSEGV for a child that reads the guard page",
    "soft-dirty": "soft-dirty in pagemap",
}
"""What the reproducer looks at."""


def _sticky() -> str:
    """What was seen before the name and after it."""
    kernels = []
    answers = reproduced.recorded("vmalock/lost-sticky")
    fails = [answer.verdict.startswith("FAIL") for answer in answers]
    assert fails == [not answer.patched for answer in answers], "lost without the patches"
    for kernel, runs in reproduced.runs_of(answers).items():
        seen = [dict(line.split(": ") for line in run.text.splitlines()) for run in runs]
        parts = [
            f"{what}: {' or '.join(dict.fromkeys(run[of] for run in seen))}"
            for of, what in STICKY.items()
        ]
        kernels.append(f"{kernel}: {'; '.join(parts)}")
    return ". ".join(kernels)


FINDINGS = [
    Finding(
        design="vmalock",
        name="taken-for-marked",
        defect="vma_start_write() returns at once where vm_lock_seq equals mm_lock_seq, "
        "without waiting for readers. A VMA that was last write-locked a whole wrap of mm_lock_seq "
        'ago has that number. mm_types.h says that reuse "can only lead to occasional unnecessary '
        'use of the slowpath".',
        hurts="Nobody by chance. A process increments its own mm's sequence, and can do so on "
        "purpose: 2^31 writers are a wrap.",
        effect=_taken,
        prior_art=PriorArt(
            {
                "7135a05838e85845e1bbf6caa6596a7e3b791a40": '"mm/vma: avoid spurious write locks '
                'when mm->mm_lock_seq overflows", Lorenzo Stoakes, October 2026, says what it '
                "breaks and fixes it"
            },
            where=ARCHIVES,
            how="the title of that commit, vm_lock_seq, vma_end_write_all, overflow, 6.12 stable, "
            "for a backport",
            when=LOOKED,
        ),
        fix="lib/kernel/vmalock/upstream/taken-for-marked: a request to stable@vger.kernel.org for "
        "that commit, with a fix of our own for 6.12.y. As 7135a05838e8 does, it resets every "
        "VMA's number at a wrap; written from that commit's message, and booted. For 6.18.y, whose "
        "lock is a count, none is written. The program that makes all 2^31 writers is not given: "
        "Documentation/process/security-bugs.rst of 7.3 asks not to post a reproducer with a bug "
        "that was found with a language model's help",
        mainline="fixed after 7.3 by 7135a05838e8, whose message was read in a stored copy, and "
        "not its diff. 7.3.4 has the defect by its source (include/linux/mmap_lock.h) and in the "
        "model, 6.12.117 on a booted kernel, a vendor's 6.18.44 on a running one, and "
        "6.12.118 by its source (Debian's of 20 November 2026)",
        worth_sending=True,
        command="kernel vmalock/overlap",
        not_ready="6.18.y has to have the fix first, and has no patch; the rules of stable series "
        "take at most 100 lines with context, and the one for 6.12.y has more",
    ),
    Finding(
        design="vmalock",
        name="no-release",
        defect="b1f02b95758d (Jann Horn, 2023) made the end of a writer's sequence a "
        "store-release; eb449bd96954 (November 2024), which made it a seqcount, left smp_wmb() and "
        "an increment. The comment of vma_start_read() still pairs its acquire with a RELEASE.",
        hurts="Nobody known: of the ten functions that were read for it none depends on it. The "
        "walkers of the page table's upper levels, which take no lock for them, were not read.",
        effect=_release,
        prior_art=PriorArt(
            where=ARCHIVES,
            how="vma_end_write_all, mm_lock_seq, seqcount, smp_wmb, vma_start_read, release",
            when=LOOKED,
        ),
        fix="none here, and no mail: there is a question to the authors of eb449bd96954 (a release "
        "again, or a comment that promises less?), and no caller to show that is hurt",
        mainline="7.3.4 has it, by its source (mm/mmap_lock.c, include/linux/seqlock.h)",
        worth_sending=False,
        command="model vmalock/litmus -p test=L4",
    ),
    Finding(
        design="vmalock",
        name="no-acquire",
        defect="f35ab95ca0af (Suren Baghdasaryan, 2025) replaced the semaphore, an acquire, by a "
        "count that vma_start_write() waits for with refcount_read(). What the writer then loads "
        "is not ordered after the stores of a reader that left between the writer's flag and its "
        "look at the count.",
        hurts="Nobody who was seen. By the memory models on a weak machine, a guard page: mseal(), "
        "the registration of userfaultfd and others load the VMA's flags after "
        "vma_start_write() and store all of them, and may drop the VM_MAYBE_GUARD that the last"
        " reader set (vmalock/lost-guard says what that spoils). change_pmd_range() of "
        "mprotect() reads *pmd soon after; if the call neither splits nor merges the VMA and "
        "the process has no mmu notifier, no lock and no barrier is between. Where it misses a "
        "page table that the last fault put there, its pages keep their old protection. By "
        "source munmap() is ordered: vma_mark_detached() takes the count to 0, an acquire. What"
        " follows was "
        f"read for all {len(callers.CALLS)} calls in 7.3.4 (lorelab.vmalock.pages.callers): "
        f"{_after(callers.TABLES, callers.BOTH)} are followed by a look at upper levels of the "
        f"page table without a lock, {_after(callers.FLAGS, callers.BOTH)} by one at the VMA's "
        "flags, of which madvise(MADV_GUARD_INSTALL) sets a bit under the VMA's lock. What a "
        "stale look spoils was thought through for mprotect()'s tables and for that bit alone.",
        effect=_acquire,
        prior_art=PriorArt(
            {
                "20250115104841.GX5388@noisy.programming.kicks-ass.net": "Peter Zijlstra and "
                "Suren Baghdasaryan on the reader's acquire, January 2025; not on the writer's",
                "20230109205336.3665937-42-surenb@google.com": "v1 of per-VMA locks waited with "
                "atomic_cmpxchg(), which orders",
                "e28e575af956": "Lorenzo Stoakes, January 2026, gave the functions around the wait "
                "a state of their own, and says nothing of ordering; by 7.3.4's source the wait is "
                "refcount_read() as before",
            },
            where=ARCHIVES,
            how="vma_start_write, __vma_enter_locked, __vma_start_exclude_readers, vm_refcnt, "
            'acquire, smp_acquire__after_ctrl_dep; of "mm: tweak __vma_enter_locked()", of 2025, '
            "only the title was found",
            when=LOOKED,
        ),
        fix="smp_acquire__after_ctrl_dep() behind the wait, where percpu_down_write() has "
        "smp_mb(): patch 1 of lib/kernel/vmalock/upstream/lost-guard, whose patch 2 loads flags "
        "there. No mail of its own: no machine was found on which it was seen; x86 forbids it",
        mainline="7.3.4 has it, by its source (mm/mmap_lock.c, mm/mprotect.c)",
        worth_sending=False,
        command="model vmalock/litmus -p test=L6",
    ),
    Finding(
        design="vmalock",
        name="lost-guard",
        defect="madvise(MADV_GUARD_INSTALL) sets VM_MAYBE_GUARD with its VMA read-locked. "
        "mprotect(), madvise() and mlock() read the VMA's flags before vma_start_write() and store "
        "all of them after it, a split copies them before it, and a merge takes the sticky ones "
        "that its caller read: a bit that is set in between is lost.",
        hurts="A process that forks, and installs a guard page in a mapping without an anon_vma "
        "(shared, or of a file and not written to) while another thread changes that mapping: "
        "fork() does not copy the guard page, and the child reads what the parent can't. By "
        "source the parent may lose it, too (retract_page_tables()). One thread "
        "is enough by another way: vmalock/lost-sticky.",
        effect=_guards,
        prior_art=PriorArt(
            {
                "72ee2324-d599-44b6-92ce-ed0afafed78f@suse.cz": "Vlastimil Babka asked in October "
                "2025 whether what could race has the VMA write-locked",
                "29c388b0-df71-4905-b434-ad7c3d5030ce@lucifer.local": "Lorenzo Stoakes: mmap's "
                "read lock excludes writers of the VMA, split and merge included",
                "3ae457cd-6c18-4870-a617-7f937b107cb4@suse.cz": "Vlastimil Babka weighs both "
                "locks together",
                "CAJuCfpEs1JTywfZNPrVmeTHUUyK+7waCU9fqfur2Q_xxx7hacw@mail.gmail.com": "Suren "
                "Baghdasaryan agrees, and warns of other flags",
                "49e14dabed7a": 'the commit that brought the flag: the read lock "excludes the '
                'write, avoiding RMW races"; it does not exclude the read before that write',
                "20260327205457.604224-5-surenb@google.com": "Suren Baghdasaryan, March 2026, "
                "moves the vma_start_write() of a split up, for another reason, and not to before "
                "the copy",
            },
            where=ARCHIVES,
            how="VM_MAYBE_GUARD, vma_set_atomic_flag, MADV_GUARD_INSTALL, mprotect, race, lost; "
            "no report of the loss was found",
            when=date(2026, 11, 30),
        ),
        fix="lib/kernel/vmalock/upstream/lost-guard takes such flags from the VMA after "
        "vma_start_write(), and orders that load after the readers' stores. Both were booted on "
        "x86-64, with lost-sticky's patch; that order is for other machines, and none was tried",
        mainline="7.3.4 has it, by its source and as Debian boots it; mainline after 7.3 was not "
        "read. 6.18.y has VM_MAYBE_GUARD, by the patches "
        "posted for it, and takes mmap_lock to install",
        worth_sending=True,
        command="findings vmalock/lost-guard --kernel running",
        config="names",
        cpus=2,
        note="It is a race: how many are lost differs from run to run. On the machine itself it "
        "needs no root and spoils nothing.",
    ),
    Finding(
        design="vmalock",
        name="lost-sticky",
        defect="madvise_update_vma() stores the VMA's flags where it only sets a name "
        "(PR_SET_VMA_ANON_NAME). If the name merges the VMA with its neighbor, the store takes "
        "away VM_MAYBE_GUARD and VM_SOFTDIRTY, which the merge had kept of the neighbor.",
        hurts="One thread, every time: a process that has split shared anonymous memory by name, "
        "installs a guard page in one part, gives the part beside it the same name, and forks: the "
        "child reads what the parent can't. And who asks "
        "pagemap, as CRIU does, what changed since clear_refs: a page that was mapped anew and "
        "not touched counts as unchanged.",
        effect=_sticky,
        prior_art=PriorArt(
            {
                "ee19189f-7510-4ddd-85b0-34d6319f8fc6@redhat.com": "David Hildenbrand, July 2025, "
                "on the patch that made vma_modify_name(): he assumes that madvise_update_vma() "
                "sets flags or a name, never both, and asks whether to check that",
                "a4f46ca7-9531-4f6e-828d-256311756a15@lucifer.local": "Lorenzo Stoakes: "
                "so it is, and no check is needed; four months before flags were sticky",
                "20260327205457.604224-3-surenb@google.com": "Suren Baghdasaryan, March 2026, "
                "changes the lines before that store, and keeps it",
                "6707915e030a3258868355f989b80140c1a45bbe": "the commit that made VM_SOFTDIRTY "
                "sticky, as merges lost it",
            },
            where=ARCHIVES,
            how="vma_modify_name, madvise_update_vma, set_new_anon_name, sticky, PR_SET_VMA, "
            "VM_SOFTDIRTY, VM_MAYBE_GUARD, lost; no report of the loss was found",
            when=date(2026, 11, 30),
        ),
        fix="lib/kernel/vmalock/upstream/lost-sticky stores no flags for a name; booted, with "
        "lost-guard's patches",
        mainline="a booted 7.3.4 with CONFIG_ANON_VMA_NAME has it (Debian's for clouds is built "
        "without that option); 6.18.37 by the patches posted for it, not run; mainline after 7.3 "
        "was not read",
        worth_sending=True,
        command="findings vmalock/lost-sticky --kernel running",
        config="names",
    ),
]
