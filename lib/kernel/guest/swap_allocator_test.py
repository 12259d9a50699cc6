"""The kernel's tools/mm/thp_swap_allocator_test on a zram device, as its header says to run it."""

import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
THP = Path("/sys/kernel/mm/transparent_hugepage")
ZRAM = Path("/sys/block/zram0")
DEVICE = "/dev/zram0"
LINE = re.compile(r"Iteration (\d+): swpout inc: (\d+), swpout fallback inc: (\d+),")


def run(params):
    """Yield one row an iteration of each of `params["runs"]`, in order.

    A run has `options`, `seed`, `device_mib`, `rotational`; `large_swapin` is for the whole
    boot, because nothing turns it on again.
    """
    for needed in (ZRAM, THP / "hugepages-64kB" / "stats" / "swpout"):
        if not needed.exists():
            raise RuntimeError(f"this kernel lacks {needed}; it takes zram and 6.10 or later")
    if not params["large_swapin"]:
        # alloc_swap_folio() swaps in one page at a time once zswap has ever been enabled.
        enabled = Path("/sys/module/zswap/parameters/enabled")
        enabled.write_text("1")
        enabled.write_text("0")
    for enabled in THP.glob("hugepages-*kB/enabled"):
        enabled.write_text("always" if enabled.parent.name == "hugepages-64kB" else "never")
    for number, wanted in enumerate(params["runs"]):
        yield from one(number, **wanted)


def one(number, options, seed, device_mib, rotational):
    """Run the tool once on a fresh device."""
    (ZRAM / "comp_algorithm").write_text("lzo")
    (ZRAM / "disksize").write_text(f"{device_mib}M")
    (ZRAM / "queue" / "rotational").write_text("1" if rotational else "0")
    subprocess.run(["mkswap", DEVICE], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", DEVICE], check=True)
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
    subprocess.run(["swapoff", DEVICE], check=True)
    (ZRAM / "reset").write_text("1")
