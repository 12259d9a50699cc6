"""How two CPUs lose the word that a packet was copied.

`msg_zerocopy_complete()` (net/core/skbuff.c, Linux 6.12) does `zerocopy = zerocopy & success` and
then decrements a count. The count is atomic, the line before it is not:

        CPU 0, sent            CPU 1, copied
        load zerocopy   1
                               load zerocopy   1
                               store 1 & 0     0
        store 1 & 1     1                          the copy is forgotten

The sender's pages are safe all the same; what it learns of them is wrong.
"""

from functools import cache
from typing import NamedTuple


class Ways(NamedTuple):
    """Interleavings, and those that end with the wrong flag."""

    all: int
    lost: int


def access(
    step: int, flag: int, loaded: int, success: int, mended: bool = False
) -> tuple[int, int]:
    """One access of a CPU to the flag.

    Parameters
    ----------
    step : int
        0 is the load, 1 the store.
    flag, loaded : int
        The flag, and what this CPU has loaded.
    success : int
        Whether its segment was sent, 1, or copied, 0.
    mended : bool
        As for `interleavings`.

    Returns
    -------
    flag, loaded : int
        Afterwards.
    """
    if step == 0:
        return flag, loaded if mended else flag
    if mended:
        return flag if success else 0, loaded
    return loaded & success, loaded


def interleavings(sent: int, copied: int, mended: bool = False) -> Ways:
    """Count the orders in which CPUs can load and store.

    Parameters
    ----------
    sent, copied : int
        CPUs that complete with success, and without, one segment each.
    mended : bool
        Without success a 0 is stored; with success nothing is.

    Returns
    -------
    Ways
        An interleaving is an order of all loads and stores; CPUs are told apart.
    """
    success = (1,) * sent + (0,) * copied

    @cache
    def go(flag: int, at: tuple[int, ...], loaded: tuple[int, ...]) -> Ways:
        ways = lost = 0
        for cpu, step in enumerate(at):
            if step == 2:
                continue
            now_loaded = list(loaded)
            after, now_loaded[cpu] = access(step, flag, loaded[cpu], success[cpu], mended)
            following = go(after, (*at[:cpu], step + 1, *at[cpu + 1 :]), tuple(now_loaded))
            ways, lost = ways + following.all, lost + following.lost
        if not ways:
            return Ways(1, int(flag != (copied == 0)))
        return Ways(ways, lost)

    return go(1, (0,) * len(success), (0,) * len(success))
