"""A disk is written and read through the page cache of a guest with several zones.

Runs follow one another in one boot, each from an empty cache. What the allocator's walks did comes
from the switches' folder (lorelab/fairzone), what the disk moved from the disk.
"""

import base64
import ctypes
import mmap
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

from switches import FOLDER, mount, turned

HERE = Path(__file__).parent
DISK = "vda"
PAGE = 4096
FAIR = FOLDER / "fairzone"
VM = {"vm/watermark_boost_factor": 0, "vm/swappiness": 0,
      "vm/percpu_pagelist_high_fraction": 1_000_000, "vm/compaction_proactiveness": 0,
      "vm/dirty_background_ratio": 1, "vm/dirty_ratio": 80}  # fmt: skip
"""Of the lists of a CPU: four batches at most, and none that tunes itself.

No proactive compaction: kcompactd looks every 500 ms whether to move pages, and drains the lists of
the CPU each time that it does. What is dirty is written at once, and no writer waits.
"""
MAPPED: list[mmap.mmap] = []
"""Files of programs that stay in memory."""
WINDOW_KIB = 128
"""Of a readahead window, as the kernel has it."""
MCL_CURRENT, MCL_FUTURE = 1, 2
"""Of include/uapi/asm-generic/mman.h."""
EVENT_BYTES = 32
PIECE = 200_000
"""Characters of a frame's piece of the events."""
VMSTAT = ("pgsteal_kswapd", "pgsteal_direct", "pgscan_kswapd", "pgscan_direct", "pageoutrun",
          "workingset_refault_file", "workingset_activate_file", "kswapd_low_wmark_hit_quickly",
          "kswapd_high_wmark_hit_quickly", "allocstall_normal", "allocstall_movable",
          "pgactivate", "pgdeactivate")  # fmt: skip


def run(params):
    """Yield one row a run of `params["runs"]`, and before it the pieces of its events.

    With `kswapd: fifo` kswapd has a real-time class, so that it runs as soon as a task gives way,
    and with `requests` that many are queued at the disk at most, of one readahead window each. With
    `locked` this process and the files of fio stay in memory; else kswapd evicts them too, and what
    is read of them anew counts as the workload's.

    A run has `switches`, `min_free_kib`, and `phases`: each a `name` and what it does: `drops`,
    then `maps`, then `writes` or `reads`, as `[first, pages]`, by our own program or by `fio`; with
    `events` its walks are logged. A kernel without the patch runs what asks for no switch.
    """
    mount()
    settings(VM)
    if params.get("locked"):
        lock_memory()
        if any(phase.get("fio") for wanted in params["runs"] for phase in wanted["phases"]):
            map_files_of("fio")
    if params.get("kswapd") == "fifo":
        [kswapd] = map(int, subprocess.check_output(["pgrep", "-x", "kswapd0"]).split())
        os.sched_setscheduler(kswapd, os.SCHED_FIFO, os.sched_param(1))
    if "requests" in params:
        queue = Path(f"/sys/block/{DISK}/queue")
        (queue / "nr_requests").write_text(str(params["requests"]))
        (queue / "max_sectors_kb").write_text(str(WINDOW_KIB))
    program = [HERE / "stream", f"/dev/{DISK}"]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as stream:
        for number, wanted in enumerate(params["runs"]):
            settings({"vm/min_free_kbytes": wanted["min_free_kib"]})
            ask(stream, "reopen 0 0")
            settings({"vm/drop_caches": 3})
            yield from one(number, wanted, stream)
        stream.stdin.close()


def one(number, wanted, stream):
    """One run: a row for each phase, and one for the whole."""
    patched = FAIR.exists()
    base = {"fairzone/log": "counters"} if patched else {}
    if patched:
        start()
    outset = walks() | kernels()
    with turned({**base, **wanted["switches"]}):
        for phase in wanted["phases"]:
            logs = phase.get("events", False)
            if logs:
                # In this order, so that the log has every walk since batches were full.
                log("events")
                start()
            if phase.get("drops"):
                settings({"vm/drop_caches": 3})
            cached = ask(stream, "map {} {}".format(*phase["maps"])) if "maps" in phase else ""
            zones = zoneinfo()
            begun = (FAIR / "counters").read_text() if patched else ""
            before = kernels() | walks()  # and after it walks first: what is read here allocates
            act(phase, stream)
            if logs:
                log("counters")
            after = walks() | kernels()
            if logs:
                yield from events(number, phase["name"])
            yield {
                "run": number,
                "phase": phase["name"],
                "begun": begun,
                "zoneinfo": zones,
                "cached": [int(pages) for pages in cached.split()],
                "changed": {name: after[name] - before[name] for name in after},
            }
    # Walks are counted while a switch is turned, so this is all of them.
    whole = walks() | kernels()
    yield {"run": number, "whole": {name: whole[name] - outset[name] for name in whole}}


def act(phase, stream):
    """What a phase does."""
    for word in ("write", "read"):
        if f"{word}s" in phase:
            first, pages = phase[f"{word}s"]
            if phase.get("fio"):
                fio(word, first, pages)
            else:
                ask(stream, f"{word} {first} {pages}")


def fio(word, first, pages):
    """The same by fio, which would drop the disk's cache first if it were not told otherwise."""
    command = ["fio", "--name=tiobench", f"--filename=/dev/{DISK}", f"--rw={word}", "--bs=4k",
               f"--offset={first * PAGE}", f"--size={pages * PAGE}", "--ioengine=psync",
               "--thread", "--invalidate=0", "--fadvise_hint=0"]  # fmt: skip
    if word == "write":
        command.append("--end_fsync=1")
    subprocess.run(command, check=True, capture_output=True, text=True)


def ask(stream, command):
    """One command to the program; its answer."""
    print(command, file=stream.stdin)
    answer = stream.stdout.readline().strip()
    if not answer:
        raise RuntimeError(f"stream ended in: {command}")
    return answer


def log(choice):
    """Turn the switch of the log."""
    (FAIR / "log").write_text(choice)


def start():
    """Counters at 0, batches full, no events."""
    (FAIR / "counters").write_text("start")


def events(number, phase):
    """The log of a phase, in pieces."""
    said = (FAIR / "counters").read_text()
    logged = int(re.search(r"^events (\d+)$", said, re.MULTILINE)[1])
    with open(FAIR / "events", "rb") as file:
        packed = zlib.compress(file.read(logged * EVENT_BYTES), 9)
    text = base64.b64encode(packed).decode()
    for at in range(0, len(text), PIECE):
        yield {"run": number, "phase": phase, "logged": logged, "piece": text[at : at + PIECE]}


def settings(values):
    """Write sysctls by path."""
    for name, value in values.items():
        (Path("/proc/sys") / name).write_text(str(value))


def lock_memory():
    """Keep all that this process maps, now and later, in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE):
        raise OSError(ctypes.get_errno(), "mlockall")


def map_files_of(program):
    """Map a program and its libraries whole; a process whose memory is locked keeps them there."""
    path = shutil.which(program)
    loaded = subprocess.check_output(["ldd", path], text=True)
    for file in [path, *re.findall(r"(/\S+) \(0x", loaded)]:
        with open(file, "rb") as opened:
            MAPPED.append(mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ))


def walks():
    """Counters of the switches' folder, and the pages that were allocated of each zone."""
    found = {}
    patched = (FAIR / "counters").read_text() if FAIR.exists() else ""
    for line in patched.splitlines():
        words = line.split()
        if words[0] == "zone":
            found[f"allocated_{words[1]}_{words[2].lower()}"] = int(words[-1])
        elif words[0] != "events":
            found[words[0]] = int(words[1])
    return found


def kernels():
    """Every other counter by name: of the kernel, of nodes, of the disk."""
    vmstat = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    found = {name: int(vmstat[name]) for name in VMSTAT if name in vmstat}
    for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*")):
        stat = dict(line.split() for line in (node / "numastat").read_text().splitlines())
        found[f"pages_of_{node.name}"] = int(stat["numa_hit"]) + int(stat["numa_miss"])
    stat = Path(f"/sys/block/{DISK}/stat").read_text().split()
    found |= {"disk_read": int(stat[2]) // 8, "disk_written": int(stat[6]) // 8}
    return found


def zoneinfo():
    """free, min, low, high, managed and protection of each populated zone, and its page lists.

    `inactive_file` are its pages on the inactive list, `pcp_count` those of the first CPU's lists.
    """
    found = []
    for part in re.split(r"^Node ", Path("/proc/zoneinfo").read_text(), flags=re.MULTILINE)[1:]:
        node, name = re.match(r"(\d+), zone +(\w+)", part).groups()
        numbers = dict(re.findall(r"^ +(?:pages )?(free|min|low|high|managed) +(\d+)", part, re.M))
        if int(numbers["managed"]):
            protection = re.search(r"protection: \(([\d, ]+)\)", part)[1]
            lists = dict(re.findall(r"^ +(count): +(\d+)", part, re.M)[:1])
            inactive = re.search(r"nr_zone_inactive_file +(\d+)", part)
            found.append(
                {"node": int(node), "zone": name}
                | {f"pcp_{key}": int(value) for key, value in lists.items()}
                | {"inactive_file": int(inactive[1]) if inactive else 0}
                | {key: int(value) for key, value in numbers.items()}
                | {"protection": [int(word) for word in protection.split(",")]}
            )
    return found
