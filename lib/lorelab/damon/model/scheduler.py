"""How kdamond and the program share a CPU: sleeps, ticks, and who runs next."""

from lorelab.damon.model.program import play
from lorelab.numerics import ONE, ZERO, U, njit

BASE_SLICE = U(700_000)  # ns, on one CPU (sysctl_sched_base_slice)
LONGEST_USLEEP = U(20_000_000)  # ns
LVL_START, LVL_CLK_SHIFT = U(63), U(3)  # jiffies of the second level, and by what it is coarser


@njit
def _slice(info, begin, end):
    # The program runs for so long; whether its slice is over by then, and a new one begins.
    info.slice_left -= min(end - begin, info.slice_left)
    if info.slice_left:
        return False
    info.slice_left = BASE_SLICE
    return True


@njit
def _wakes(info, ns):
    # kdamond_usleep() (mm/damon/core.c): a timer of its own, or the wheel's, whose levels have
    # buckets of 1, 8, 64, ... jiffies (calc_wheel_index(), calc_index(); kernel/time/timer.c).
    if ns <= LONGEST_USLEEP:
        return info.now + ns
    jiffies, delta = info.now // info.tick_ns, (ns + info.tick_ns - ONE) // info.tick_ns
    shift = ZERO
    while delta >= LVL_START << shift:
        shift += LVL_CLK_SHIFT
    return (((jiffies + delta) >> shift) + ONE << shift) * info.tick_ns


@njit
def slept(info, ns):
    """Nanoseconds from going to sleep for `ns` until kdamond has the CPU back.

    With a tick the program has that CPU, too, and is always ready to run. Of two tasks of one
    weight that whose vruntime is behind is eligible, or both are at one vruntime; then the earlier
    deadline wins (pick_eevdf()). A task keeps its lag asleep (place_entity()), so kdamond preempts
    the program as it wakes (check_preempt_wakeup_fair()) where it is behind, or neither is and the
    program's slice is over. Else it waits for the tick by which a slice is over, and is behind by
    that wait until it has worked as long. Ahead, it has no turn before the program has caught up,
    and no lag once it has (DELAY_DEQUEUE, DELAY_ZERO). All of it is of kernel/sched/fair.c.
    Simplifications: no other task ever runs, and jiffies are 0 as monitoring begins.
    """
    if info.tick_ns == ZERO:
        return ns
    now, wakes = info.now, _wakes(info, ns)
    asleep = wakes - now
    over = False
    while now < wakes:
        then = min(now - now % info.tick_ns + info.tick_ns, wakes)
        over = _slice(info, now, then)
        now = then
    ahead = info.ahead - min(asleep, info.ahead)
    info.ahead = ZERO
    # What wakes it at a tick does so when that has seen to the slice (run_timer_softirq()).
    if info.behind or (ahead == ZERO and over and wakes % info.tick_ns):
        return asleep
    over = False
    while not over or now - wakes < ahead:
        then = now - now % info.tick_ns + info.tick_ns
        over = _slice(info, now, then)
        now = then
    info.behind = now - wakes - ahead
    return now - info.now


@njit
def work(pages, ns):
    """Let kdamond work for `ns` nanoseconds: with a CPU to itself the program runs on meanwhile."""
    info = pages.info[0]
    caught = min(ns, info.behind)
    info.behind -= caught
    info.ahead += ns - caught
    if info.cpus == ONE:
        info.now += ns
    else:
        play(pages, ns)
