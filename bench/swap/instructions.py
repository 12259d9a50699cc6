"""Instructions and cache misses of an allocation by size of the device, counted by valgrind.

    python -m bench.swap.instructions

needs valgrind and gcc, takes minutes, and is no part of `make bench`. It runs the C version on
mixed orders (an equal share of the pages each, device 85 % full) under callgrind, which simulates
48 KiB of first-level and 1 MiB of last-level cache, and tells the allocator's misses from those on
the arrays of the events, which stand in for a load's own tables. Seen with gcc 12, for an
allocation and its free:

       64 MiB: 349 instructions, misses: 0.00 in the allocator, 0.31 on the events
     1024 MiB: 343 instructions, misses: 0.05 in the allocator, 0.51 on the events
     8192 MiB: 338 instructions, misses: 0.64 in the allocator, 1.11 on the events

The work doesn't rise with the size of the device; what rises are misses, first the load's, then the
allocator's too, once swap_map (2 MiB of it at 8 GiB) is larger than the cache.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.swap.events import churn

from lorelab.errors import RunFailed

HERE = Path(__file__).parent
SIZES = (64, 1024, 8192)
COUNTED = 200_000
"""Allocations under callgrind's eye, the last ones."""
CPUS, FULL = 4, 0.85
ORDERS = (0, 2, 4, 9)
CACHES = ("--D1=49152,12,64", "--LL=1048576,16,64")
OF_THE_LOAD = ("run", "counted")


def count(mib: int, folder: Path) -> dict[str, float]:
    """Instructions, and misses of the allocator and on the events, an allocation and its free."""
    pages = mib << 8
    shares = {order: 2.0**-order for order in ORDERS}
    weights = {order: share / sum(shares.values()) for order, share in shares.items()}
    mean = sum(share * 2**order for order, share in weights.items())
    events = churn(pages, int(2.2 * FULL * pages / mean) + COUNTED, CPUS, weights, FULL, seed=1)
    starts = (events >= 0).nonzero()[0]
    events.tofile(folder / "events")
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--cache-sim=yes", "--toggle-collect=counted"),
            *CACHES,
            f"--callgrind-out-file={folder / 'out'}",
            *(folder / "counted", folder / "events", str(pages), str(CPUS)),
            *(str(starts[-COUNTED]), str(len(starts) - COUNTED)),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RunFailed(f"valgrind failed: {done.stderr.splitlines()[-1]}")
    shown = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--show=Ir,DLmr,DLmw", folder / "out"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {"instructions": 0.0, "allocator": 0.0, "events": 0.0}
    for line in shown.stdout.split("file:function")[1].split("Auto-annotated")[0].splitlines():
        cells = re.sub(r"\(.*?\)", "", line).replace(",", "").split()
        function = re.search(r":(\w+)", line)
        if function:
            total, *misses = (0 if cell == "." else int(cell) for cell in cells[:3])
            whose = "events" if function[1] in OF_THE_LOAD else "allocator"
            found["instructions"] += total / COUNTED
            found[whose] += sum(misses) / COUNTED
    return found


def main() -> None:
    """Print a line a size."""
    if not (shutil.which("valgrind") and shutil.which("gcc")):
        raise RunFailed("no valgrind or no gcc; as root: apt-get install valgrind gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = ["-O2", "-g", "-march=haswell", "-std=gnu11", "-o", folder / "counted"]
        subprocess.run(["gcc", *flags, HERE / "counted.c"], check=True)
        for mib in SIZES:
            found = count(mib, folder)
            print(
                f"{mib:5} MiB: {found['instructions']:.0f} instructions, misses: "
                f"{found['allocator']:.2f} in the allocator, {found['events']:.2f} on the events"
            )


if __name__ == "__main__":
    try:
        main()
    except RunFailed as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
