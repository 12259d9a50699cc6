"""Memory is touched and given up, and a disk is read, in a guest with a movable zone.

The page cache of a block device is not movable (GFP_USER in bdev_alloc()), and anonymous memory is
(GFP_HIGHUSER_MOVABLE). Given up with MADV_FREE, it is reclaimed without swap.
"""

import subprocess

from stream import DISK, FAIR, HERE, ask, events, log, mount, settings, start, zoneinfo
from switches import turned


def run(params):
    """Yield a row for each phase of each run, and before it the pieces of its events.

    A run has `switches`, `min_free_kib`, and `phases`: each a `name` and the pages of every turn
    (`turns`): how many are touched, then how many are read. With `events` its walks are logged.
    """
    mount()
    settings({"vm/watermark_boost_factor": 0, "vm/swappiness": 0})
    for number, wanted in enumerate(params["runs"]):
        settings({"vm/min_free_kbytes": wanted["min_free_kib"]})
        room = sum(touched for phase in wanted["phases"] for touched, _ in phase["turns"])
        with started("stream", f"/dev/{DISK}") as disk, started("lazyfree", str(room)) as memory:
            settings({"vm/drop_caches": 3})
            yield from one(number, wanted, disk, memory)
            disk.stdin.close()
            memory.stdin.close()


def started(name, argument):
    """One of our programs, which takes commands line by line."""
    command = [HERE / name, argument]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)


def one(number, wanted, disk, memory):
    """One run: a row for each phase."""
    with turned({"fairzone/log": "counters", **wanted["switches"]}):
        for phase in wanted["phases"]:
            if phase["events"]:
                log("events")
                start()
            zones, begun = zoneinfo(), (FAIR / "counters").read_text()
            at = 0
            for touched, pages in phase["turns"]:
                ask(memory, f"touch {touched}")
                ask(disk, f"read {at} {pages}")
                at += pages
            if phase["events"]:
                log("counters")
                yield from events(number, phase["name"])
            yield {"run": number, "phase": phase["name"], "begun": begun, "zoneinfo": zones}
