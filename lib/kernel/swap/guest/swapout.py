"""Swap-outs of usemem.c's processes to a RAM disk, and what they cost, counted."""

import ctypes
import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from switches import turned

HERE = Path(__file__).parent
THP = Path("/sys/kernel/mm/transparent_hugepage")
TRACING = Path("/sys/kernel/tracing")
CGROUP = Path("/sys/fs/cgroup/lorelab")
DEVICE = Path("/dev/ram0")
LIBC = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20
PMD_ORDER = 9
SETTLING = 0.1
"""Seconds before a step whose instructions are counted: what the one before left to RCU callbacks
and kworkers is then done."""
PROBES = {
    # rmap clears an entry and waits for its invalidation, or leaves the wait to a batch ...
    "alone": "ptep_clear_flush",
    "deferred": "set_tlb_ubc_flush_pending",
    # ... which ends in one of these. A PMD is invalidated, with a wait, as it becomes PTEs.
    "batches": "arch_tlbbatch_flush",
    "huge": "pmdp_invalidate",
    "slots": "folio_alloc_swap",
    "bios": "brd_submit_bio",
}
"""Functions of the kernel whose calls are counted, by what a call is."""
TRIES = 3
"""Of a run. At the cgroup's limit, others may take what reclaim freed for a large folio, and
try_charge_memcg() gives up: the fault then allocates single pages, and the run says nothing of
the folios it is about."""
SHRINKER = "deferred_split_scan"
"""Function whose returns are added up: the folios that a shrinker has split."""


def run(params):
    """Yield what each of `params["runs"]` cost, all of them once a round.

    A run has `switches` (choices by name), `processes`, `mib`, `order`, `limit_mib` (of
    the cgroup, or none), and `steps`: commands for usemem.c, of which the last two of a run with
    `instructions` give their ticks and the last one else is what is counted.
    """
    for needed in (DEVICE, THP, Path("/proc/vmstat")):
        if not needed.exists():
            raise NotImplementedError(str(needed))
    # All but usemem.c's processes stay on CPU 0: a task on theirs would unload their page tables.
    os.sched_setaffinity(0, {0})
    prepare()
    if params["instructions"]:
        steady()
    else:
        attach()
    for turn in range(params["rounds"]):
        for number, wanted in enumerate(params["runs"]):
            for _ in range(TRIES):
                with turned(wanted["switches"]), swap():
                    found, missing = one(wanted, params["instructions"])
                if not any(missing.values()):
                    break
            else:
                order = wanted["order"]
                raise RuntimeError(f"{TRIES} times folios of order {order} did not come: {missing}")
            yield {"run": number, "round": turn, **found}


def prepare():
    """Mount what the counters and limits need; write the whole device once, to have its pages."""
    if not TRACING.is_mount():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    cgroups = CGROUP.parent
    if not (cgroups / "cgroup.controllers").exists():
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", cgroups], check=True)
    (cgroups / "cgroup.subtree_control").write_text("+memory")
    with DEVICE.open("wb", buffering=0) as device:
        try:
            while device.write(bytes(MIB)):
                pass
        except OSError:
            pass  # its end
    subprocess.run(["mkswap", DEVICE], check=True, stdout=subprocess.DEVNULL)


def steady():
    """Keep a CPU's lists of free pages as short as they get.

    By default they grow to thousands of pages with what is freed and allocated, and are emptied and
    filled that many at a time (`nr_pcp_free()`, `nr_pcp_alloc()`). How often that falls into a step
    depends on what went before, and is up to a quarter of a million instructions each time.
    """
    Path("/proc/sys/vm/percpu_pagelist_high_fraction").write_text(str(2**31 - 1))


def attach():
    """Count the calls of `PROBES`, and what `SHRINKER` returns, with events that nobody reads."""
    symbols = re.findall(r"^\S+ [tT] (\S+)$", Path("/proc/kallsyms").read_text(), re.MULTILINE)
    # Path.open() would seek to its end, which it refuses.
    events = os.open(TRACING / "kprobe_events", os.O_WRONLY | os.O_APPEND)
    probes = [(name, function, "p", "", "common_cpu") for name, function in PROBES.items()]
    probes.append(("shrinker_splits", SHRINKER, "r", " split=$retval:s64", "split"))
    for name, function, kind, fetched, key in probes:
        # The compiler may have given a static function a suffix.
        found = [s for s in symbols if s == function or s.startswith(f"{function}.constprop")]
        if len(found) != 1:
            raise NotImplementedError(f"one {function}() to probe: it is inlined or not there")
        os.write(events, f"{kind}:lorelab/{name} {found[0]}{fetched}\n".encode())
        event = TRACING / "events" / "lorelab" / name
        (event / "trigger").write_text(f"hist:keys={key}")
    os.close(events)


@contextmanager
def swap():
    """The device, in use for swap, and empty."""
    check("swapon", LIBC.swapon(os.fsencode(DEVICE), 0))
    yield
    check("swapoff", LIBC.swapoff(os.fsencode(DEVICE)))


def check(call, result):
    if result:
        raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")


def one(wanted, instructions):
    """Run usemem.c through its steps.

    Returns the counters of the last step, or the ticks of two; and how many folios did not come in
    the order asked for, and allocations were refused by the cgroup, when memory was first touched.
    """
    order, pages = wanted["order"], wanted["mib"] * MIB // 4096
    stats = THP / f"hugepages-{4 << order}kB" / "stats"
    for enabled in THP.glob("hugepages-*kB/enabled"):
        enabled.write_text("madvise" if enabled.parent == stats.parent else "never")
    CGROUP.mkdir()
    arguments = [CGROUP, wanted["processes"], wanted["mib"], order]
    # Splitting a PMD flushes in a way that also interrupts a CPU that sleeps, which then unloads
    # the page tables that it held; one that spins keeps them, at the emulator's expense.
    arguments.append("spin" if order == PMD_ORDER and not instructions else "sleep")
    with subprocess.Popen(
        [HERE / "usemem", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as usemem:

        def tell(command):
            usemem.stdin.write(command + "\n")
            usemem.stdin.flush()
            said = usemem.stdout.readline()
            if not said:
                raise RuntimeError(f"usemem ended at {command!r}")
            return int(said)

        tell("ping")
        if wanted["limit_mib"]:
            # What the processes have so far, and what the kernel has for them, comes on top.
            charged = int((CGROUP / "memory.current").read_text())
            (CGROUP / "memory.max").write_text(str(charged + wanted["limit_mib"] * MIB))
        came = read(stats, "anon_fault_alloc")
        refused = read(stats, "anon_fault_fallback_charge")
        ticks, missing = [], {}
        for step in wanted["steps"]:
            if instructions:
                time.sleep(SETTLING)
            before = counters(stats, instructions)
            ticks.append(tell(step))
            after = counters(stats, instructions)
            if step == "touch" and len(ticks) == 1 and order:
                came = read(stats, "anon_fault_alloc") - came
                refused = read(stats, "anon_fault_fallback_charge") - refused
                missing = {"folios": (wanted["processes"] * pages >> order) - came}
                missing["refused"] = refused
        usemem.stdin.close()
        usemem.stdout.read()
    if usemem.returncode:
        raise RuntimeError(f"usemem ended with status {usemem.returncode}")
    CGROUP.rmdir()
    if instructions:
        return {"ticks": ticks[-2:], "pages": pages}, missing
    return {"counters": {name: after[name] - before[name] for name in after}}, missing


def counters(stats, instructions):
    """All that is counted, as totals since boot."""
    if instructions:
        return {}
    lines = (line.split() for line in (TRACING / "kprobe_profile").read_text().splitlines())
    found = {name: (int(hits), int(missed)) for name, hits, missed in lines}
    if any(missed for _, missed in found.values()):
        raise RuntimeError(f"kprobes missed calls: {found}")
    totals = {name: found[name][0] for name in PROBES}
    # Lines `{ split: FOLIOS } hitcount: CALLS`; -1 is SHRINK_STOP.
    returned = (TRACING / "events/lorelab/shrinker_splits/hist").read_text()
    calls = re.findall(r"split: +(\d+) } hitcount: +(\d+)", returned)
    totals["shrinker_splits"] = sum(int(folios) * int(times) for folios, times in calls)
    vmstat = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    totals["swapped"] = int(vmstat["pswpout"])
    totals["remote"] = int(vmstat["nr_tlb_remote_flush"])
    totals["received"] = int(vmstat["nr_tlb_remote_flush_received"])
    for name in ("split", "swpout_fallback"):
        totals[name] = read(stats, name)
    return totals


def read(stats, name):
    """A counter of the folio size at hand; single pages have none."""
    return int((stats / name).read_text()) if stats.exists() else 0
