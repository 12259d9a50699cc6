"""The kernel's tools/mm/thp_swap_allocator_test on a zram device, as its header says to run it."""

import mmap
import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

from switches import FOLDER, turned

HERE = Path(__file__).parent
THP = Path("/sys/kernel/mm/transparent_hugepage")
ZRAM = Path("/sys/block/zram0")
DEVICE = "/dev/zram0"
MADV_PAGEOUT = 21
LINE = re.compile(r"Iteration (\d+): swpout inc: (\d+), swpout fallback inc: (\d+),")


def run(params):
    """Yield one row an iteration of each of `params["runs"]`, all of them once a turn.

    A run has `options`, `seed`, `device_mib`, `rotational`, `calls` and `move_every` as preload.c
    takes them (None: the scheduler decides, and a row has its `migrations`), and `switches`,
    choices by name; one that turns swap/count on gives a last row with `counters`. `zswap_once` is
    for the whole boot: alloc_swap_folio() swaps in a page at a time once zswap has been enabled.
    """
    stats = THP / "hugepages-64kB" / "stats"
    lacking = [name for name in ("swpout", "swpout_fallback") if not (stats / name).exists()]
    if lacking:
        raise NotImplementedError(f"{' and '.join(lacking)} of {stats}, which came with 6.10")
    if not ZRAM.exists():
        raise NotImplementedError(f"{ZRAM} (CONFIG_ZRAM)")
    if params["zswap_once"]:
        enabled = Path("/sys/module/zswap/parameters/enabled")
        if not enabled.exists():
            raise NotImplementedError("zswap, which alone makes large_swapin=false")
        enabled.write_text("1")
        enabled.write_text("0")
    for enabled in THP.glob("hugepages-*kB/enabled"):
        enabled.write_text("always" if enabled.parent.name == "hugepages-64kB" else "never")
    for turn in range(params["turns"]):
        for number, wanted in enumerate(params["runs"]):
            if turn or number:
                forget_slot_cache()
            for row in switched(**wanted):
                yield {"turn": turn, "run": number, **row}


def switched(switches, **wanted):
    """Run the tool once with switches turned, which then go back."""
    with turned(switches):
        yield from one(**wanted)
        if "swap/count" in switches:
            yield {"counters": counters()}


def counters():
    """Counts of swap/count by `NAME ORDER`; they start anew."""
    file = FOLDER / "swap" / "counters"
    lines = [line.rsplit(" ", 1) for line in file.read_text().splitlines()]
    file.write_text("0")
    return {name: int(count) for name, count in lines}


def forget_slot_cache():
    """Leave the slot cache inactive, as it is after boot.

    swap_slot_cache_active outlives swapoff, and with it a run would depend on those before: a
    run of large folios alone never activates the cache, and frees past it. An area of fewer
    than 128 slots makes check_cache_active() deactivate it at the next page that goes out.
    """
    with area("256K"), mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE) as page:
        page[0] = 1
        page.madvise(MADV_PAGEOUT)


@contextmanager
def area(size, rotational=False):
    """zram0 of `size`, in use for swap."""
    algorithm = ZRAM / "comp_algorithm"
    # Debian's have no lzo since 6.12; nothing counted here depends on it.
    if "lzo" in re.sub(r"[][]", "", algorithm.read_text()).split():
        algorithm.write_text("lzo")
    (ZRAM / "disksize").write_text(size)
    (ZRAM / "queue" / "rotational").write_text("1" if rotational else "0")
    subprocess.run(["mkswap", DEVICE], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", DEVICE], check=True)
    yield
    subprocess.run(["swapoff", DEVICE], check=True)
    (ZRAM / "reset").write_text("1")


def one(options, seed, device_mib, rotational, calls, move_every):
    """Run the tool once on a fresh device."""
    asked = {"LD_PRELOAD": HERE / "preload.so", "LORELAB_SEED": seed, "LORELAB_CALLS": calls}
    if move_every is not None:
        asked["LORELAB_MOVE_EVERY"] = move_every
    with area(f"{device_mib}M", rotational):
        tool = subprocess.Popen(
            [HERE / "thp_swap_allocator_test", *options.split()],
            env={**os.environ, **{name: str(value) for name, value in asked.items()}},
            stdout=subprocess.PIPE,
            text=True,
        )
        with tool:
            for line in tool.stdout:
                iteration, swpout, fallback = map(int, LINE.match(line).groups())
                yield {
                    "iteration": iteration,
                    "swpout": swpout,
                    "swpout_fallback": fallback,
                }
            if move_every is None:
                yield {"migrations": migrations(tool.pid)}
        if tool.returncode:
            raise RuntimeError(f"thp_swap_allocator_test ended with status {tool.returncode}")


def migrations(pid):
    """How often the scheduler has moved a process, which is about to end."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    said = Path(f"/proc/{pid}/sched")
    if not said.exists():
        raise NotImplementedError(f"{said} (CONFIG_SCHED_DEBUG)")
    return int(re.search(r"nr_migrations\s*:\s*(\d+)", said.read_text())[1])
