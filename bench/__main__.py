"""`make bench`: what the models cost in numba, C, plain Python and a browser, at any size.

    python -m bench [--keep] [DESIGN ...]

Times are processor time on this machine, as it is now; nothing tests them, and only `--keep` stores
them, in data/bench, for the page of the book that shows them. That the three give the same results
is checked, and a difference ends the run with status 1.
"""

import sys

import pandas as pd
from rich.console import Console
from rich.table import Table

from bench import equal, panels, sweep
from bench.damon import tables as damon
from bench.fairzone import tables as fairzone
from bench.gso import tables as gso
from bench.swap import tables as swap
from bench.vmalock import events as vmalock_events
from bench.vmalock import tables as vmalock
from lorelab.errors import RunFailed
from lorelab.showing import benches

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
    "panel": (panels.speed,),
    "equal": (equal.points_in_chromium,),
}


def cells(table: Table) -> pd.DataFrame:
    """What a table prints, without its looks."""
    return pd.DataFrame({str(column.header): list(column.cells) for column in table.columns})


if __name__ == "__main__":
    keep = "--keep" in sys.argv
    names = [word for word in sys.argv[1:] if word != "--keep"] or list(DESIGNS)
    if unknown := [name for name in names if name not in DESIGNS]:
        print(f"bench: no design {unknown[0]!r}; there is {', '.join(DESIGNS)}", file=sys.stderr)
        sys.exit(2)
    try:
        for name in names:
            made = []
            for table in DESIGNS[name]:
                made.append(table())
                Console(width=100).print(made[-1])
            if keep:
                print(benches.keep(name, {str(one.title): cells(one) for one in made}))
    except RunFailed as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
