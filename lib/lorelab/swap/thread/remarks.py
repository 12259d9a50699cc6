"""What the thread says of limits and of code: checks like those of `lorelab.swap.thread.checks`."""

import numpy as np

from lorelab.experiments import experiment
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed
from lorelab.numerics import U
from lorelab.swap.figures import figure, later, spread
from lorelab.swap.model.state import SWAPFILE_CLUSTER as CLUSTER
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.params import AllocatorTest, Variant
from lorelab.swap.thread import cost
from lorelab.swap.thread.checks import same_counts

SWAPFILE_CLUSTER = int(CLUSTER)
PMD_ORDER = 9
CONFIDENCE = 0.95


def margin(runs: float, deviation: float) -> float:
    """How far apart two means of as many runs each lie by chance, in the unit of `deviation`.

    The half-width of the interval of Student's t for their difference, at 95 %.
    """
    # Here, as in `lorelab.judging.equivalence`: no other claim asks for it.
    from scipy.special import stdtrit

    quantile = float(stdtrit(2 * runs - 2, (1 + CONFIDENCE) / 2))
    return quantile * deviation * float(np.sqrt(2 / runs))


def weigh_gain(size: str) -> Weigh:
    """Weigh "improves slightly": three tables, one spread, and the events of the path."""

    def weigh() -> Weighed:
        gains = later(size)
        chance = margin(figure("repeats"), spread())
        far = {table: gain for table, gain in gains.items() if abs(gain - 1) * 100 > chance}
        same = same_counts(cost.ORDERS[size.upper()])
        evidence = {f"{table} gain": gain for table, gain in gains.items()}
        evidence |= {"spread %": spread(), "refused only beyond %": round(chance, 1)}
        evidence |= {"counts alike": same}
        cpus = {name: table.cores for name, table in cost.TABLES.items()}
        where = (
            f"v3's table comes from {cpus['v3']} cores of an Ampere Altra, those of v4 and v5 from "
            f"a VM of {cpus['v4']} CPUs"
        )
        if not far:
            events = "no event of the path changes" if same else "events of the path change"
            return Weighed(
                ClaimVerdict.NOT_TESTABLE,
                f"The gains are within what two means of {figure('repeats'):.0f} runs differ by "
                f"when runs spread by {spread():.0f} %, and {events}. {where}.",
                evidence,
            )
        if min(far.values()) < 1:
            return Weighed(ClaimVerdict.CONTRADICTED, f"A table shows a loss: {where}.", evidence)
        every = len(far) == len(gains)
        why = f"The gain stands out of the spread in {', '.join(far)}: {where}."
        return Weighed(ClaimVerdict.HOLDS if every else ClaimVerdict.OTHER_NUMBER, why, evidence)

    return weigh


def weigh_repeats() -> Weighed:
    runs = figure("repeats")
    deviations = figure("v4-stdev-low"), spread()
    bounds = [round(margin(runs, deviation), 1) for deviation in deviations]
    more = round(margin(figure("v4-runs"), spread()), 1)
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        f"The runs are not printed. With the spread that the author gives later, two means of "
        f"{runs:.0f} runs differ by {bounds[0]} to {bounds[1]} % by chance.",
        {"runs": runs, "by chance %, lowest spread": bounds[0], "highest": bounds[1]}
        | {f"highest, of {figure('v4-runs'):.0f} runs": more},
        judgement=True,
    )


def whole_on(rotational: bool) -> dict[str, int]:
    """Folios swapped out whole: v3 and v6.10 in the model, and 6.12 as recorded."""
    question = experiment("swap/allocator-test")
    sides = {}
    for variant in (Variant.V3, Variant.V6_10):
        params = AllocatorTest(variant=variant, iterations=20, rotational=rotational)
        sides[f"{variant.name.lower()}, model"] = question.simulate(params)
    kept = AllocatorTest(iterations=20, rotational=True) if rotational else AllocatorTest()
    sides["v6_12, kernel"] = question.recorded(kept).counters
    return {
        name: int(counted.loc[counted["counter"] == "swpout", "value"].sum())
        for name, counted in sides.items()
    }


def weigh_no_disk() -> Weighed:
    disk, other = whole_on(True), whole_on(False)
    evidence = {f"{name}, whole on a disk": number for name, number in disk.items()}
    evidence |= {f"{name}, whole on zram": number for name, number in other.items()}
    return Weighed(
        ClaimVerdict.HOLDS
        if not any(disk.values()) and all(other.values())
        else ClaimVerdict.CONTRADICTED,
        "On a rotational device no folio is swapped out whole, in the model nor by 6.12."
        if not any(disk.values())
        else "Folios are swapped out whole to a rotational device, too.",
        evidence,
    )


def weigh_config() -> Weighed:
    with_it = {f"{name}, whole with it": number for name, number in whole_on(False).items()}
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "On x86-64 CONFIG_THP_SWAP follows from CONFIG_TRANSPARENT_HUGEPAGE and can't be left out "
        "(mm/Kconfig), so no kernel here is without it. In 6.12 folio_alloc_swap() asks for it "
        "before any large folio gets slots.",
        with_it,
        judgement=True,
    )


def allocatable_orders(variant: Variant) -> list[int]:
    """Orders of which a fresh device gives a range."""
    orders = []
    for order in range(PMD_ORDER + 1):
        si = swapon(4 * SWAPFILE_CLUSTER, variant, slot_cache=False)
        if folio_alloc_swap(si, U(0), U(order)):
            orders.append(order)
    return orders


def weigh_any_order() -> Weighed:
    before, after = allocatable_orders(Variant.V6_6), allocatable_orders(Variant.V3)
    smallest = figure("smallest-range")
    good = after == list(range(PMD_ORDER + 1)) and 1 << after[0] == smallest
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "v3 gives a range of each order from a fresh device, where 6.6 gives two of them.",
        {"smallest range": smallest, "orders on 6.6": str(before), "orders on v3": str(after)},
    )


def weigh_in_the_way() -> Weighed:
    """One order-4 range makes a cluster current; order 0 then takes one slot of it."""
    si = swapon(4 * SWAPFILE_CLUSTER, Variant.V3, slot_cache=False)
    first = int(folio_alloc_swap(si, U(0), U(4))) // SWAPFILE_CLUSTER
    while si.cluster_info["count"][first] <= 16:
        if not folio_alloc_swap(si, U(0), U(0)):
            break
    stolen = int(si.cluster_info["count"][first]) - 16
    again = bool(folio_alloc_swap(si, U(0), U(4)))
    free = SWAPFILE_CLUSTER - int(si.cluster_info["count"][first])
    return Weighed(
        ClaimVerdict.HOLDS if stolen > 0 and not again else ClaimVerdict.CONTRADICTED,
        f"Once the scanner took {stolen} slot of a current cluster, the order gives the cluster up "
        f"with {free} slots free, and finds no other."
        if not again
        else "The order goes on in its cluster.",
        {"slots taken by the scanner": stolen, "slots left free": free, "next range found": again},
    )


def align(x: np.ndarray, a: int) -> np.ndarray:
    """`ALIGN()` of include/linux/align.h, which masks: it needs a power of two."""
    return (x + a - 1) & ~(a - 1)


def weigh_align() -> Weighed:
    slots = np.arange(4 * SWAPFILE_CLUSTER)
    # ALIGN_DOWN(x, a) is ALIGN(x - (a - 1), a)
    down = align(slots - (SWAPFILE_CLUSTER - 1), SWAPFILE_CLUSTER)
    same = int((down + SWAPFILE_CLUSTER == align(slots + 1, SWAPFILE_CLUSTER)).sum())
    every = same == len(slots)
    return Weighed(
        ClaimVerdict.ARITHMETIC if every else ClaimVerdict.CONTRADICTED,
        "Both are the end of the slot's cluster, for every slot."
        if every
        else "They differ: a cluster is no power of two.",
        {"slots a cluster": SWAPFILE_CLUSTER, "slots": len(slots), "equal": same},
    )


def weigh_gate() -> Weighed:
    """Without cluster_info (a rotational device) and with it, on what was merged for 6.10."""
    orders_of = {}
    for rotational in (False, True):
        si = swapon(4 * SWAPFILE_CLUSTER, Variant.V6_10, slot_cache=False, rotational=rotational)
        orders = [o for o in (0, 4) if folio_alloc_swap(si, U(0), U(o))]
        orders_of["no cluster_info" if rotational else "cluster_info"] = orders
    good = orders_of == {"cluster_info": [0, 4], "no cluster_info": [0]}
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "As merged for 6.10, an area without cluster_info gives order 0 and refuses order 4.",
        {f"orders with {name}": str(orders) for name, orders in orders_of.items()},
    )


def weigh_no_page() -> Weighed:
    """A full map but for every second slot: order 4 must fail unscanned, order 0 must be found."""
    si = swapon(8 * SWAPFILE_CLUSTER, Variant.V6_10, slot_cache=False)
    while folio_alloc_swap(si, U(0), U(0)):
        pass
    for offset in range(1, 8 * SWAPFILE_CLUSTER, 2):
        swap_entry_range_free(si, U(offset), U(1))
    before = int(si.scanned.sum())
    large = bool(folio_alloc_swap(si, U(0), U(4)))
    read = int(si.scanned.sum()) - before
    small = bool(folio_alloc_swap(si, U(0), U(0)))
    return Weighed(
        ClaimVerdict.HOLDS if small and not large and read == 0 else ClaimVerdict.CONTRADICTED,
        "As merged for 6.10, order 4 gives up where order 0 goes on to scan.",
        {"slots read for order 4": read, "order 4 found": large, "order 0 found": small},
    )
