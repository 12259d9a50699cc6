"""Accesses that hardware samples, reported to kdamond in place of accessed bits.

As in Ravi Jonnalagadda's "mm/damon: hardware-sampled access reports" (RFC of 29 May 2026,
20260529165640.820-1-ravis.opensrc@gmail.com), with the regions of 7.3.4: no page is drawn and no
bit is cleared. After the sleep, a region that an address of a report lies in counts one access of
this sampling interval, however many such reports there are.

        accesses    . . . . . . . . . . . . . . . .     of the program, in one sampling interval
        sampled         x         x         x           one in `period`
        lost                      o                     by itself, or the whole interval
        reported     <--x-->             <--x-->        at an address up to `skid` bytes off

Simplifications: one CPU, so one ring; patterns of one phase enter it one after another; a report
takes no time, nor does a lookup; the program's own pages are not sampled. Skid is what a sample
without a precise address has: PEBS and IBS give the address of the access itself.
"""

from collections.abc import Iterator

import numpy as np

from lorelab.damon.model.alternatives import Watched, address_of
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.program import account_truth, play
from lorelab.damon.model.state import Damon, damon_first_region, head_of
from lorelab.damon.model.v7_3 import damon_update_region_access_rate, kdamond_checked
from lorelab.damon.model.young import pages_prepare
from lorelab.numerics import GOLDEN, ONE, ZERO, U, njit, splitmix64

DAMON_REPORT_RING_SIZE = 256
"""Entries of a CPU's ring, one of which stays empty; a report that finds it full is dropped."""
HARDWARE = np.dtype(
    [
        (name, "u8")
        for name in (
            "period",  # accesses from one sample to the next
            "skid",  # bytes
            "loss",  # chance that a sample is lost, of 2**32
            "stall",  # chance that all samples of an interval are, of 2**32
            "due",  # accesses until the next sample
            "samples",
            "reports",
            "random",
        )
    ]
)


def new_hardware(
    period: int, skid: int = 0, loss: float = 0, stall: float = 0, seed: int = 1
) -> np.ndarray:
    """A sampling unit that has not sampled yet, as a (1,) `HARDWARE` array.

    Parameters
    ----------
    period : int
        Accesses from one sample to the next; a prime keeps step with no stride.
    skid : int
        Bytes that an address may be off, either way.
    loss, stall : float
        Shares of samples and of sampling intervals that are lost.
    seed : int
    """
    chances = (int(share * 2**32) for share in (loss, stall))
    return np.array([(period, skid, *chances, 0, 0, 0, seed)], HARDWARE)


@njit
def _drawn(hardware):
    hardware.random += GOLDEN
    return splitmix64(hardware.random) >> U(32)


@njit
def damon_report_access(pages, hardware, ring):
    """Let the hardware report the accesses of an interval; how many are in `ring` then.

    Parameters
    ----------
    hardware : HARDWARE record
    ring : (n,) uint64 array
        Receives addresses.
    """
    info = pages.info[0]
    stalled = _drawn(hardware) < hardware.stall
    n = ZERO
    for k in range(info.lowest, info.highest):
        p = pages.patterns[k]
        while hardware.due < p.n:
            address = address_of(info, p, hardware.due)
            hardware.due += ONE + (_drawn(hardware) * (U(2) * hardware.period - ONE) >> U(32))
            hardware.samples += ONE
            if _drawn(hardware) < hardware.loss or stalled or n == U(len(ring)):
                continue
            off = _drawn(hardware) * (U(2) * hardware.skid + ONE) >> U(32)
            ring[n] = address + off - hardware.skid
            n += ONE
        hardware.due -= p.n
    hardware.reports += n
    return n


@njit
def kdamond_check_reported_accesses(ctx, ring):
    """Count one access of each region that a report is of; the highest count of a region."""
    highest = ZERO
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            accessed = False
            for address in ring:
                if r.start <= address and address < r.end:
                    accessed = True
                    break
            damon_update_region_access_rate(r, accessed)
            highest = max(highest, U(r.nr_accesses))
            i = U(r.next)
    return highest


@njit
def reported_window(ctx, pages, hardware, ring):
    """Let program, hardware and kdamond run until a window has ended; regions in `ctx.trace`."""
    info = ctx.info[0]
    aggregated = -1
    while aggregated < 0:
        pages_prepare(pages)
        play(pages, info.sample_interval * U(1000))
        account_truth(pages)
        n = damon_report_access(pages, hardware[0], ring)
        info.max_nr_accesses = kdamond_check_reported_accesses(ctx, ring[:n])
        aggregated = kdamond_checked(ctx)
    return aggregated


def reported(ctx: Damon, pages: Pages, hardware: np.ndarray) -> Iterator[Watched]:
    """Windows of a started context, for as long as somebody asks for one.

    `checks` of a window are the reports that arrived.
    """
    ring = np.zeros(DAMON_REPORT_RING_SIZE - 1, U)
    reports = passed = 0
    while True:
        n = reported_window(ctx, pages, hardware, ring)
        now = int(hardware["reports"][0]), int(ctx.info["passed_sample_intervals"][0])
        yield Watched(ctx.trace[:n], now[0] - reports, now[1] - passed)
        reports, passed = now
