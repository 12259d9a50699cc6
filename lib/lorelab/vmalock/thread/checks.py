"""How each claim of the cover letter is weighed: by arithmetic, and on recorded runs of a kernel.

Each `weigh_` function takes nothing and returns a `Weighed`. Verdicts follow from the evidence:
change a figure or a record, and they move. The performance model decides none of them that depends
on times: it makes two published gains a loss (`lorelab.vmalock.pages.published`). The kernel of the
records is 6.12.117; v2 was never booted here.
"""

from functools import cache

import pandas as pd

from lorelab.experiments import experiment
from lorelab.judging.claims import ClaimVerdict, Weighed
from lorelab.lab import records
from lorelab.vmalock.figures import figure, parts, saving, shares, starting
from lorelab.vmalock.pages import views
from lorelab.vmalock.params import Variant, Workloads, WorkloadsFollowed, Zerocopy
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import done, totals

threads = cache(views.threads)
workloads = cache(views.workloads)
taken = cache(views.taken)


@cache
def log(name: str) -> pd.DataFrame:
    """Steps of every recorded log of an experiment, one run after another, with its number."""
    runs = [
        experiment(name).recorded(params).counters.assign(run=number)
        for number, params in enumerate(records.recorded(name, views.LOGGED[name]))
    ]
    return pd.concat(runs, ignore_index=True)


def received(variant: Variant, **fields: int | bool) -> dict[str, int]:
    """The model's own counters of a run of `vmalock/zerocopy`."""
    return totals(done(programs.zerocopy(Zerocopy(variant=variant, **fields))))


# figures


def weigh_diffstat() -> Weighed:
    changed = starting("changed-")
    lines, files = int(changed["value"].sum()), len(changed)
    printed = int(figure("insertions") + figure("deletions"))
    good = lines == printed and files == figure("files")
    return Weighed(
        ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED,
        f"The {files} files of the list have {lines} changed lines; the last line adds up to "
        f"{printed} in {figure('files'):g} files.",
        {"lines": lines, "printed": printed, "files": files},
    )


def weigh_authors() -> Weighed:
    total, printed = starting("author-")["value"].sum(), figure("series")
    return Weighed(
        ClaimVerdict.ARITHMETIC if total == printed else ClaimVerdict.CONTRADICTED,
        f"The authors of the shortlog have {total:g} patches between them.",
        {"patches": int(total), "printed": int(printed)},
    )


def weigh_parts() -> Weighed:
    ranges = parts()
    patches = [number for part in ranges.values() for number in part]
    twice = sorted({number for number in patches if patches.count(number) > 1})
    whole = set(patches) == set(range(1, int(figure("series")) + 1))
    note = (
        f" Patch {', '.join(map(str, twice))} is in two of them, a slip of the pen: it frees VMAs "
        "without call_rcu in exit_mmap, an optimisation."
        if twice
        else ""
    )
    return Weighed(
        ClaimVerdict.ARITHMETIC if whole else ClaimVerdict.CONTRADICTED,
        f"The parts have every patch of the series.{note}"
        if whole
        else "The parts leave patches out.",
        {"patches": len(set(patches)), "in two parts": ", ".join(map(str, twice)) or "none"},
    )


def weigh_messages() -> Weighed:
    listed, copies = int(figure("messages")), 3
    of_series = int(figure("series")) + 1
    return Weighed(
        ClaimVerdict.ARITHMETIC if listed % copies == 0 else ClaimVerdict.CONTRADICTED,
        f"Each message is listed once for each of {copies} lists: {listed // copies} messages, of "
        f"which {of_series} are the series and its cover letter.",
        {"messages": listed // copies, "of the series": of_series},
    )


def weigh_again() -> Weighed:
    pairs = {row: (figure(f"{row}-base"), figure(f"{row}-base-again")) for row in ("find", "mmap")}
    good = all(first == again for first, again in pairs.values())
    return Weighed(
        ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED,
        "What the shares are said to come down from is what they are said to be in the base case."
        if good
        else "A share is printed with two values.",
        {row: f"{first} and {again} %" for row, (first, again) in pairs.items()},
    )


def weigh_find() -> Weighed:
    row = shares().loc["find"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if row["saved"] > 0 else ClaimVerdict.CONTRADICTED,
        "Shares of cycles need the machine; the TCP patch that the series' figure needs is not in "
        "the series.",
        {"saved, % of all cycles": float(row["saved"]), "of its own, %": float(row["saved_share"])},
    )


def weigh_mmap() -> Weighed:
    row = shares().loc["mmap"]
    reads = workloads("receive").loc["reads"]
    before, after = int(reads["mmap", "another"]), int(reads["vma", "another"])
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if after < before else ClaimVerdict.CONTRADICTED,
        "Shares of cycles need the machine. On 6.12.117 receives no longer take mmap_lock.",
        {
            "saved at least, % of all cycles": float(row["saved"]),
            "of its own, %": float(row["saved_share"]),
            "receives that took mmap_lock, per-VMA locks off": before,
            "and on": after,
        },
    )


def weigh_saving() -> Weighed:
    printed = figure("saving")
    allowed = saving()
    fits = [name for name, (_, high) in allowed.items() if printed <= high]
    least = shares()["saved"].sum()
    evidence = {name: f"{low} to {high} %" for name, (low, high) in allowed.items()}
    evidence |= {
        "printed": f"{printed} % or more",
        "sum of the printed differences": f"{least:.1f} %",
    }
    return Weighed(
        ClaimVerdict.HOLDS if fits else ClaimVerdict.CONTRADICTED,
        f"The printed shares allow that much or more where the rows are {' or '.join(fits)}."
        if fits
        else "Neither reading of the rows allows that much.",
        evidence,
    )


# the mechanism


def weigh_write_locked() -> Weighed:
    """The letter's sentences, read with "write" for "read": what a fault does at equal numbers."""
    steps = log("vmalock/followed")
    equal = steps["vm_lock_seq"] == steps["mm_lock_seq"]
    refused = steps["event"].isin(("early", "late"))
    locked = steps["event"] == "locked"
    counts = {
        "refused at equal numbers": int((refused & equal).sum()),
        "refused at others": int((refused & ~equal).sum()),
        "locked at equal numbers": int((locked & equal).sum()),
        "locked at others": int((locked & ~equal).sum()),
    }
    alike = counts["refused at others"] == counts["locked at equal numbers"] == 0
    return Weighed(
        ClaimVerdict.CONTRADICTED
        if not alike
        else ClaimVerdict.HOLDS
        if counts["refused at equal numbers"]
        else ClaimVerdict.NOT_TESTABLE,
        'It holds with "write-locked" for "read-locked", a slip of the pen in all four sentences: '
        "in the logs of 6.12.117 a fault is turned away where the numbers are equal, and locks the "
        "VMA where they are not.",
        counts,
    )


def weigh_bulk() -> Weighed:
    """Forks of the recorded log: the VMAs that each has marked, and what faults lock of them."""
    name = "vmalock/workloads-followed"
    forks = experiment(name).recorded(WorkloadsFollowed(workload="fork", cpus=4)).counters
    marked = forks[forks["event"] == "marked"].groupby("mm_lock_seq")["vma"].nunique()
    ends = forks[forks["event"] == "mmap_write_end"]["mm_lock_seq"].value_counts()
    locked = forks[forks["event"] == "locked"].groupby("vm_lock_seq")["vma"].nunique()
    once = (ends.reindex(marked.index) == 1).all()
    again = int(locked.reindex(marked.index).fillna(0).min())
    return Weighed(
        ClaimVerdict.HOLDS
        if once and marked.min() > 1 and again > 1
        else ClaimVerdict.CONTRADICTED,
        "In the log of 6.12.117 a fork write-locks dozens of VMAs and increments the number once; "
        "faults then lock several of them, which nobody has unlocked one by one.",
        {
            "forks": len(marked),
            "VMAs write-locked by each, at least": int(marked.min()),
            "increments that end each": int(ends.reindex(marked.index).max()),
            "of these VMAs locked by faults afterwards, at least": again,
        },
    )


def weigh_fallback() -> Weighed:
    counts = threads()
    modes = ("private", "shared", "merging")
    done_there = {mode: counts[mode, "vma"].astype(int) for mode in modes}
    refused = {mode: c["pgfault"] - c["vma_lock_success"] for mode, c in done_there.items()}
    alike = all(refused[mode] == c["step_mmap"] for mode, c in done_there.items())
    return Weighed(
        ClaimVerdict.CONTRADICTED
        if not alike
        else ClaimVerdict.HOLDS
        if any(refused.values())
        else ClaimVerdict.NOT_TESTABLE,
        "On 6.12.117 every fault that is refused its VMA's lock is handled under mmap_lock, and no "
        "other.",
        {
            f"{mode} areas": f"{refused[mode]} refused, {c['step_mmap']} under mmap_lock"
            for mode, c in done_there.items()
        },
    )


def weigh_still_contended() -> Weighed:
    shared = threads()["shared", "vma"].astype(int)
    reads = taken()["reads"].astype(int)
    before, after = reads["shared", "6.12.117", "mmap"], reads["shared", "6.12.117", "vma"]
    contended = shared["vma_lock_abort"] > 0 and shared["step_wait"] > 0
    return Weighed(
        ClaimVerdict.HOLDS if contended and after < before else ClaimVerdict.CONTRADICTED,
        "On 6.12.117, where all threads fault in one VMA, faults are still refused its lock and "
        "writers wait for them; but mmap_lock is hardly taken for reading any more. What that "
        "gains in time was not measured.",
        {
            "faults refused, one VMA": int(shared["vma_lock_abort"]),
            "writers that waited for faults in it": int(shared["step_wait"]),
            "mmap_lock taken for reading, per-VMA locks off": int(before),
            "and on": int(after),
        },
    )


# the benefits


def _launch() -> dict[str, object]:
    """What the recorded launches of 6.12.117 say, per-VMA locks off and on."""
    counts = workloads("launch").astype(int)
    rows = {
        "faults of the threads that took mmap_lock": "reads",
        "calls of theirs that took it for writing": "writes",
        "readers asleep on mmap_lock": "rwsem_sleep_reader",
        "writers asleep on mmap_lock": "rwsem_sleep_writer",
    }
    return {
        name: f"{counts.loc[row, 'mmap']} before, {counts.loc[row, 'vma']} with the locks"
        for name, row in rows.items()
    }


def weigh_launch() -> Weighed:
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "No device, app or baseline is named, an emulated CPU can't tell times, and the "
        "performance model turns two published gains into a loss. On 6.12.117 with two CPUs, a "
        "hundred threads that start sleep on mmap_lock far less often.",
        {"printed, up to": f"{figure('launch-gain'):g} %", **_launch()},
        judgement=True,
    )


def weigh_launch_contention() -> Weighed:
    private = threads()["private", "vma"].astype(int)
    apart = private["step_mmap"] == 0 < private["vma_lock_success"]
    counts = workloads("launch").astype(int)
    fewer = counts.loc["reads", "vma"] < counts.loc["reads", "mmap"]
    return Weighed(
        ClaimVerdict.HOLDS if apart and fewer else ClaimVerdict.CONTRADICTED,
        "On 6.12.117 no fault takes mmap_lock while others map elsewhere. When threads start, the "
        "first fault of each new area still does, for its anon_vma.",
        {
            "faults in areas of their own": int(private["pgfault"]),
            "of these under mmap_lock": int(private["step_mmap"]),
            "faults of a hundred threads that start": int(counts.loc["faults", "vma"]),
            "of these that took mmap_lock": int(counts.loc["reads", "vma"]),
            "readers asleep on it": int(counts.loc["rwsem_sleep_reader", "vma"]),
            "and without the locks": int(counts.loc["rwsem_sleep_reader", "mmap"]),
        },
    )


def weigh_spf() -> Weighed:
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "Workload, threads and machine are not given, and the performance model reproduces "
        "neither published gain of per-VMA locks in ebizzy. The letter itself says that v2 handles "
        "anonymous faults alone, without swap and userfaultfd; SPF's series handled more.",
        {"printed": f"{figure('spf-benefit'):g} % of SPF's benefit"},
        judgement=True,
    )


def weigh_all_block() -> Weighed:
    """Receives under mmap_lock in the recorded runs: how many readers sleep for each madvise()."""
    [(receivers, calls)] = {
        (params.threads, params.size)
        for params in records.recorded("vmalock/workloads", Workloads)
        if params.workload == "receive" and params.path == "mmap"
    }
    asleep = workloads("receive").loc["rwsem_sleep_reader", "mmap"] / calls
    return Weighed(
        ClaimVerdict.HOLDS,
        "By what the lock is: a writer keeps out every reader that asks. Recorded on 6.12.117 with "
        "per-VMA locks off and two CPUs, nearly three of four receivers sleep on mmap_lock in each "
        "call (the counter is the whole guest's).",
        {
            "receivers": receivers,
            **{f"readers asleep per call, {vma}": f"{n:.2f}" for vma, n in asleep.items()},
        },
        judgement=True,
    )


def weigh_madvise_waits() -> Weighed:
    asleep = workloads("receive").astype(int).loc["rwsem_sleep_writer"]
    before, after = asleep["mmap", "another"], asleep["vma", "another"]
    return Weighed(
        ClaimVerdict.HOLDS if before > 0 == after else ClaimVerdict.CONTRADICTED,
        "On 6.12.117 with per-VMA locks off, madvise() sleeps on mmap_lock behind receives; with "
        "them, and another VMA, it never does.",
        {"writers asleep, per-VMA locks off": int(before), "and on, another VMA": int(after)},
    )


def weigh_entirely() -> Weighed:
    counts = workloads("receive").astype(int)
    refused = counts.loc["refused", "vma"]
    asleep = counts.loc["rwsem_sleep_reader"]
    return Weighed(
        ClaimVerdict.HOLDS if refused["another"] == 0 else ClaimVerdict.CONTRADICTED,
        "On 6.12.117 it holds where madvise() changes another VMA. Where it changes the one that "
        "they receive in, receivers fail to lock it and sleep on mmap_lock nearly as before. The "
        "letter does not say which it means, and the TCP patch that it means is not in the series.",
        {
            "receives refused, other VMA": int(refused["another"]),
            "receives refused, same VMA": int(refused["same VMA"]),
            "readers asleep, other VMA": int(asleep["vma", "another"]),
            "readers asleep, same VMA": int(asleep["vma", "same VMA"]),
            "and per-VMA locks off": int(asleep["mmap", "same VMA"]),
        },
    )


def weigh_bouncing() -> Weighed:
    """Cache lines fetched, which no emulated CPU counts; their number needs no assumed time."""
    lines = {
        name: counters["remote"] / counters["faults"]
        for name, counters in (
            ("mmap_lock", received(Variant.MMAP_LOCK)),
            ("own VMA", received(Variant.V2)),
            ("one VMA", received(Variant.V2, same=True, interval_us=1_000_000)),
        )
    }
    return Weighed(
        ClaimVerdict.HOLDS,
        "By what the lock is: receivers with a VMA each write no word that the others write, and "
        "receivers of one VMA write its lock instead of mmap_lock. The model has that rule built "
        "in, and only counts.",
        {f"lines per receive, {name}": round(number, 2) for name, number in lines.items()},
        judgement=True,
    )


def weigh_fibers() -> Weighed:
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "The claim is what production showed, with much else on the path. On 6.12.117 threads that "
        "start take mmap_lock for writing as often as before, and sleep for it less often.",
        _launch(),
        judgement=True,
    )
