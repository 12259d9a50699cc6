"""The kernel's tools/mm/thp_swap_allocator_test on a zram device, as its header says to run it."""

import mmap
import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
THP = Path("/sys/kernel/mm/transparent_hugepage")
ZRAM = Path("/sys/block/zram0")
DEVICE = "/dev/zram0"
SWITCHES = Path("/sys/kernel/debug/lorelab")
MADV_PAGEOUT = 21
LINE = re.compile(r"Iteration (\d+): swpout inc: (\d+), swpout fallback inc: (\d+),")


def run(params):
    """Yield one row an iteration of each of `params["runs"]`, in order.

    A run has `options`, `seed`, `device_mib`, `rotational` and `switches`, choices by name; one
    that turns swap/count on gives a last row with `counters`. `zswap_once` is for the whole
    boot: alloc_swap_folio() swaps in one page at a time once zswap has ever been enabled.
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
    if any(wanted["switches"] for wanted in params["runs"]):
        if not os.path.ismount(SWITCHES.parent):
            subprocess.run(["mount", "-t", "debugfs", "debugfs", SWITCHES.parent], check=True)
        if not SWITCHES.exists():
            raise NotImplementedError(f"{SWITCHES}, which come with lib/kernel/patches")
    for number, wanted in enumerate(params["runs"]):
        turned = wanted.pop("switches")
        if number:
            forget_slot_cache()
        for name, choice in turned.items():
            (SWITCHES / name).write_text(choice)
        yield from one(number, **wanted)
        if "swap/count" in turned:
            yield {"run": number, "counters": counters()}
        for name in turned:
            # The kernel's own behaviour is the first choice; the current one is in brackets.
            first = re.sub(r"[][]", "", (SWITCHES / name).read_text()).split()[0]
            (SWITCHES / name).write_text(first)


def counters():
    """Counts of swap/count by `NAME ORDER`; they start anew."""
    file = SWITCHES / "swap" / "counters"
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


def one(number, options, seed, device_mib, rotational):
    """Run the tool once on a fresh device."""
    with area(f"{device_mib}M", rotational):
        tool = subprocess.Popen(
            [HERE / "thp_swap_allocator_test", *options.split()],
            env={**os.environ, "LD_PRELOAD": str(HERE / "srand.so"), "LORELAB_SEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        with tool:
            for line in tool.stdout:
                iteration, swpout, fallback = map(int, LINE.match(line).groups())
                yield {
                    "run": number,
                    "iteration": iteration,
                    "swpout": swpout,
                    "swpout_fallback": fallback,
                }
        if tool.returncode:
            raise RuntimeError(f"thp_swap_allocator_test ended with status {tool.returncode}")
