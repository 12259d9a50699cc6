"""A disk is read once on two nodes, of which the second is slower: what is demoted, what is freed.

The nodes' speeds come from the guest's ACPI tables (HMAT); from them the kernel makes memory tiers,
and demotes from the first node to the second.
"""

import ctypes
import subprocess
import time
from pathlib import Path

from stream import HERE, VM, ask, lock_memory, settings, zoneinfo

MM = Path("/sys/kernel/mm")
TIERS = Path("/sys/devices/virtual/memory_tiering")
VMSTAT = ("pgalloc_dma", "pgalloc_dma32", "pgalloc_normal", "pgdemote_kswapd", "pgdemote_direct",
          "pgmigrate_success", "pgmigrate_fail", "pgsteal_kswapd", "pgsteal_direct",
          "pgscan_kswapd", "pgscan_direct", "pageoutrun", "kswapd_low_wmark_hit_quickly",
          "kswapd_high_wmark_hit_quickly", "workingset_refault_file", "pgactivate",
          "pgdeactivate", "allocstall_normal", "allocstall_movable")  # fmt: skip
SET_MEMPOLICY, MPOL_WEIGHTED_INTERLEAVE = 238, 6
"""Of arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/linux/mempolicy.h."""
BOTH_NODES = 0b11
LRU_GEN = {False: "0", True: "7"}


def run(params):
    """Yield a row for each phase of each of `params["runs"]`.

    A run has `min_free_kib`, `demotion`, `mglru`, `numa_balancing`, `weights` (pages of each node
    in turn, or none), and `phases`: each a `name`, the pages that it `reads` as `[first, pages]`,
    and what it `maps` at its end as `[pages, parts]`.
    """
    if len(list(TIERS.glob("memory_tier*"))) < 2:
        raise NotImplementedError("memory tiers, which it makes of ACPI's HMAT (ACPI_HMAT)")
    settings(VM)
    lock_memory()
    # The others are the guest's root and /lab, which are small.
    disk = max(Path("/sys/block").glob("vd*"), key=lambda found: int((found / "size").read_text()))
    for number, wanted in enumerate(params["runs"]):
        numa_balancing = wanted["numa_balancing"]
        settings({"vm/min_free_kbytes": wanted["min_free_kib"], "vm/drop_caches": 3,
                  "kernel/numa_balancing": numa_balancing})  # fmt: skip
        (MM / "numa" / "demotion_enabled").write_text(str(wanted["demotion"]).lower())
        (MM / "lru_gen" / "enabled").write_text(LRU_GEN[wanted["mglru"]])
        program = [HERE / "stream", f"/dev/{disk.name}"]
        with subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            preexec_fn=(lambda given=wanted["weights"]: interleave(given)),
        ) as stream:
            yield from one(number, wanted["phases"], stream)
            stream.stdin.close()


def interleave(weights):
    """Let this process take pages of each node in turn, as many as its weight; none: as it was."""
    if not weights:
        return
    for node, weight in enumerate(weights):
        (MM / "mempolicy/weighted_interleave" / f"node{node}").write_text(str(weight))
    libc = ctypes.CDLL(None, use_errno=True)
    mask = ctypes.c_ulong(BOTH_NODES)
    asked = SET_MEMPOLICY, MPOL_WEIGHTED_INTERLEAVE, ctypes.byref(mask), ctypes.c_ulong(64)
    if libc.syscall(*asked):
        raise OSError(ctypes.get_errno(), "set_mempolicy")


def one(number, phases, stream):
    """One run: a row for each phase."""
    for phase in phases:
        zones, before = zoneinfo(), vmstat()
        first, pages = phase["reads"]
        begun = time.monotonic()
        ask(stream, f"read {first} {pages}")
        ms = round(1000 * (time.monotonic() - begun))
        after = vmstat()
        cached = ask(stream, "map {} {}".format(*phase["maps"]))
        yield {
            "run": number,
            "phase": phase["name"],
            "begun": "",
            "zoneinfo": zones,
            "cached": [int(part) for part in cached.split()],
            # How many pages go by in a nap of kswapd, which has the same clock.
            "changed": {"ms": ms} | {name: after[name] - before[name] for name in after},
        }


def vmstat():
    """Those counters of `VMSTAT` that this kernel has."""
    said = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return {name: int(said[name]) for name in VMSTAT if name in said}
