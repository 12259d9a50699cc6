"""`make bench`: what the models cost in numba, C and plain Python, and on machines of any size.

    python -m bench [DESIGN ...]

Times are processor time on this machine, as it is now; nothing stores or tests them. That the three
give the same results is checked, and a difference ends the run with status 1.
"""

import sys

from rich.console import Console

from bench import sweep
from bench.damon import tables as damon
from bench.fairzone import tables as fairzone
from bench.gso import tables as gso
from bench.swap import tables as swap
from bench.vmalock import events as vmalock_events
from bench.vmalock import tables as vmalock
from lorelab.errors import RunFailed

DESIGNS = {
    "swap": (swap.speed, swap.size),
    "damon": (damon.speed, damon.hour, damon.reading),
    "vmalock": (
        vmalock.speed,
        vmalock_events.speed,
        vmalock_events.yardstick,
        vmalock_events.simpy,
        vmalock_events.largest,
    ),
    "gso": (gso.speed, gso.reach),
    "fairzone": (fairzone.speed, fairzone.size),
    "sweep": (sweep.costs, sweep.memory),
}

if __name__ == "__main__":
    names = sys.argv[1:] or list(DESIGNS)
    if unknown := [name for name in names if name not in DESIGNS]:
        print(f"bench: no design {unknown[0]!r}; there is {', '.join(DESIGNS)}", file=sys.stderr)
        sys.exit(2)
    try:
        for name in names:
            for table in DESIGNS[name]:
                Console(width=100).print(table())
    except RunFailed as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
