"""What the claims of the swap-out thread are weighed against: figures, counts, model runs.

Each `weigh_` function takes nothing and returns a `Weighed`; `lorelab.swap.thread.claims` says
which claim it weighs. The verdicts follow from the evidence: change a figure or the model, and they
move.
"""

from functools import cache

import pandas as pd

from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed
from lorelab.numerics import PAGE, U
from lorelab.swap.experiments import usemem
from lorelab.swap.figures import figure, later, pairs, published, spread
from lorelab.swap.model.reclaim import UNITS
from lorelab.swap.model.state import SWAPFILE_CLUSTER as CLUSTER
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.pages import simulated
from lorelab.swap.params import AllocatorTest, Usemem, Variant
from lorelab.swap.thread import cost

SWAPFILE_CLUSTER = int(CLUSTER)
WHOLE = {"processes": 4, "cpus": 4, "mib_each": 64, "memcg_mib": 64, "swap_mib": 256}
"""A small usemem: 192 MiB through 256 MiB of swap, four reclaimers at once."""


@cache
def counted(variant: Variant, order: int) -> dict[str, int]:
    """Counters of a small usemem run."""
    return usemem.count(Usemem(**WHOLE, variant=variant, folio_order=order))


# The table of v3


def same_counts(order: int) -> bool:
    """Whether the series leaves every counter of this folio size as it was.

    Bytes of `swap_map` read are left out: 6.6 takes a cluster for a PMD unseen, v3 reads it first.
    """
    old, new = counted(Variant.V6_6, order), counted(Variant.V3, order)
    return all(old[name] == new[name] for name in UNITS if name != "scanned")


def weigh_unit() -> Weighed:
    printed = figure("v3-4k-base")
    return Weighed(
        ClaimVerdict.ARITHMETIC if printed == 0 else ClaimVerdict.CONTRADICTED,
        "The 4K baseline is the unit that the other cells are relative to.",
        {"printed %": printed},
    )


def weigh_cell(id: str, order: int, series: bool) -> Weigh:
    """Weigh a cell of the table: its time needs the machine, its sign needs only the counts."""

    def weigh() -> Weighed:
        row = figure(id)
        here = counted(Variant.V3 if series else Variant.V6_6, order)
        unit = counted(Variant.V6_6, 0)
        names = ("aged", "invalidations", "flushes", "slot_allocations", "splits")
        ratios = {name: here[name] / here["swapped"] for name in names}
        excess = [ratios[name] - unit[name] / unit["swapped"] for name in names]
        evidence = {"printed %": row} | {f"{k} per page": round(v, 4) for k, v in ratios.items()}
        # a PMD is one entry more in 512, which is no difference
        more, fewer = max(excess) > 0.01, min(excess) < -0.01
        sign = int(fewer) - int(more)
        if sign == 0:
            why = "The time needs the machine, and the counts take no side."
            return Weighed(ClaimVerdict.NOT_TESTABLE, why, evidence)
        if sign * row < 0:
            why = "The counts ask for the other sign."
            return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
        side = "fewer" if sign > 0 else "more"
        why = f"The time needs the machine; its sign is that of the counts: {side} events per page."
        return Weighed(ClaimVerdict.NOT_TESTABLE, why, evidence)

    return weigh


def weigh_regression_gone() -> Weighed:
    ids = ["v3-64k-series", "v2-64k-series", "v4-64k-series", "v5-64k-series"]
    printed = {id: figure(id) for id in ids}
    gains = {f"{table} gain of 64K": gain for table, gain in later("64k").items()}
    new, old = counted(Variant.V3, 4), counted(Variant.V6_6, 0)
    names = ("invalidations", "flushes", "slot_allocations", "bios", "splits")
    fewer = all(new[n] / new["swapped"] <= old[n] / old["swapped"] for n in names)
    good = fewer and min(printed.values()) > 0
    return Weighed(
        ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED,
        f"Four tables print {min(printed.values())} to {max(printed.values())} % over 4K on the "
        "baseline. Their times need the machine; a whole 64 KiB swap-out has at most the events "
        "of 4K in every counter.",
        printed | gains | {"fewer events": fewer},
    )


def weigh_reading() -> Weighed:
    worst = {
        reading: {table: 100 * cost.fit(table, reading).worst for table in cost.TABLES}
        for reading in cost.READINGS
    }
    exact = max(worst["throughput"].values()) < 0.1
    refused = max(worst["time"].values()) > spread()
    return Weighed(
        ClaimVerdict.ARITHMETIC if exact and refused else ClaimVerdict.NOT_TESTABLE,
        "Throughput: six event costs then give back the four kinds of swap-out of each table (its "
        "two 4K cells averaged, and its two 2M cells). As time they miss those of v4 and v5 "
        "by far more than the spread (v3's alone by less)."
        if exact and refused
        else "The event costs do not tell the readings apart.",
        {f"{r} misses {t} by %": round(v, 1) for r, by in worst.items() for t, v in by.items()}
        | {"spread %": spread()},
    )


def weigh_tlbi() -> Weighed:
    split, whole = counted(Variant.V6_6, 4), counted(Variant.V6_6, 0)
    pages = split["swapped"] / whole["swapped"]
    doubled = split["invalidations"] / whole["invalidations"] / pages
    aged = (split["invalidations"] + split["aged"]) / (whole["invalidations"] + whole["aged"])
    aged /= pages
    return Weighed(
        ClaimVerdict.HOLDS if doubled > 1 else ClaimVerdict.CONTRADICTED,
        "A split invalidates each entry twice; with the round of aging that arm64 also "
        "invalidates for, it is three times for two.",
        {"unmapping, split over 4K": round(doubled, 3), "with aging": round(aged, 3)},
    )


def weigh_bottleneck() -> Weighed:
    shares = {}
    for table in ("v3", "v4"):
        ends = cost.ranges(table, "throughput").set_index("weight").loc["invalidation"]
        for end in ("lowest", "highest"):
            shares[f"share in {table}, {end}"] = round(float(ends[f"{end}_share"]), 2)
    most = {table: 100 * shares[f"share in {table}, highest"] for table in ("v3", "v4")}
    return Weighed(
        ClaimVerdict.ARITHMETIC,
        f"A fit of six weights to four numbers, taken as exact, gives invalidations at most "
        f"{most['v3']:.0f} % of the penalty at {cost.TABLES['v3'].cores} cores and "
        f"{most['v4']:.0f} % at {cost.TABLES['v4'].cores}; the rest goes to the split itself. The "
        "spread of the runs widens both, and the fit measures nothing.",
        shares,
        judgement=True,
    )


# Capacity, and space tied up


def weigh_capacity() -> Weighed:
    memory = figure("processes") * figure("memory-each")
    swapped, device = memory - figure("memcg-limit"), figure("swap-device")
    return Weighed(
        ClaimVerdict.ARITHMETIC if 0 < swapped < device else ClaimVerdict.CONTRADICTED,
        "What does not fit in the cgroup fits on the device, written once and hardly ever freed: "
        "the benchmark cannot show fragmentation.",
        {"GiB swapped": swapped, "GiB of swap": device, "share": round(swapped / device, 3)},
    )


def weigh_tied_up() -> Weighed:
    slots = left_over(Variant.V2, 1)
    both = left_over(Variant.V2, 2)
    mib = slots * PAGE / (1 << 20)
    printed = figure("v2-tied-up")
    close = abs(mib - printed) < 0.05 and both == 2 * slots
    return Weighed(
        ClaimVerdict.HOLDS if close else ClaimVerdict.OTHER_NUMBER,
        "It is the space of one CPU, after one allocation of each order from 2 to 8; the thread's "
        "machine has 70 of them.",
        {"slots, one CPU": slots, "two CPUs": both, "MiB per CPU": mib}
        | {"MiB on 70 CPUs": mib * figure("processes")},
    )


@cache
def tight(variant: Variant) -> dict[str, int]:
    """Counters of a usemem run that leaves 4 of 196 MiB of swap."""
    return usemem.count(Usemem(**{**WHOLE, "swap_mib": 196}, variant=variant))


def weigh_fallback() -> Weighed:
    counters = tight(Variant.V3)
    written = counters["resident"] + counters["swapped"] == counters["faults"] * 16
    good = counters["fallbacks"] > 0 and counters["splits"] == counters["fallbacks"] and written
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "With the free clusters used up, folios are split and their pages still find slots.",
        {name: counters[name] for name in ("fallbacks", "splits", "swapped")},
    )


@cache
def left_over(variant: Variant, cpus: int) -> int:
    """Slots free when order 0 first fails, after each CPU took one range of orders 2 to 8."""
    si = swapon(64 * SWAPFILE_CLUSTER, variant, cpus=cpus, slot_cache=False)
    for cpu in range(cpus):
        for order in range(2, 9):
            folio_alloc_swap(si, U(cpu), U(order))
    while folio_alloc_swap(si, U(0), U(0)):
        pass
    return int(si.info["pages"][0] - si.info["inuse_pages"][0])


def tied_up(variants: tuple[Variant, ...], cpus: tuple[int, ...]) -> pd.DataFrame:
    """`left_over` by variant and number of CPUs, in slots and in MiB."""
    left = {(v.name, n): left_over(v, n) for v in variants for n in cpus}
    slots = pd.Series(left, name="slots order 0 can't have").rename_axis(["variant", "CPUs"])
    return slots.to_frame().assign(MiB=(slots * PAGE / (1 << 20)).round(1))


def weigh_stealing() -> Weighed:
    left = {f"{v.name.lower()}, free slots left": left_over(v, 2) for v in (Variant.V2, Variant.V3)}
    good = left["v3, free slots left"] == 0 < left["v2, free slots left"]
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "Two CPUs hold a cluster of each order when order 0 fills the device: v3 takes the last "
        "slot, v2 may not.",
        left,
    )


@cache
def fragmented() -> tuple[int, int, bool]:
    """A device of order-0 slots on v3, every second one freed, and one order-4 allocation.

    Returns
    -------
    free, scanned, found : int, int, bool
        Slots free, bytes of swap_map read for the allocation, whether it got a range.
    """
    si = swapon(64 * SWAPFILE_CLUSTER, Variant.V3, slot_cache=False)
    while folio_alloc_swap(si, U(0), U(0)):
        pass
    for offset in range(1, 64 * SWAPFILE_CLUSTER, 2):
        swap_entry_range_free(si, U(offset), U(1))
    free = int(si.info["pages"][0] - si.info["inuse_pages"][0])
    before = si.scanned.sum()
    allocated = bool(folio_alloc_swap(si, U(0), U(4)))
    return free, int(si.scanned.sum() - before), allocated


def weigh_no_search() -> Weighed:
    fresh = counted(Variant.V3, 4)
    _, scanned, _ = fragmented()
    reads = fresh["scanned"] / fresh["swapped"]
    return Weighed(
        ClaimVerdict.HOLDS if reads == 1 and scanned == 0 else ClaimVerdict.CONTRADICTED,
        "Above order 0 only the range that is taken is read, and nothing when there is no free "
        "cluster. Order 0 still falls back to the linear scan.",
        {"slots read per slot taken": reads, "read by a failing allocation": scanned},
    )


def weigh_no_fragmentation() -> Weighed:
    si = swapon(64 * SWAPFILE_CLUSTER, Variant.V3, slot_cache=False)
    for _ in range(4):
        for order in range(2, 10):
            for _ in range(SWAPFILE_CLUSTER >> order):
                folio_alloc_swap(si, U(0), U(order))
    used = si.cluster_info["count"][1:64]
    gaps = int(((used > 0) & (used < SWAPFILE_CLUSTER)).sum())
    free, _, allocated = fragmented()
    evidence = {
        "clusters with gaps": gaps,
        "free slots": free,
        "64 KiB found among them": allocated,
    }
    if gaps:
        return Weighed(ClaimVerdict.CONTRADICTED, "Padding leaves gaps.", evidence)
    why = (
        "Padding leaves no gap, which is all the sentence says: with every second slot freed, "
        "half the device is free and 64 KiB is refused."
    )
    return Weighed(ClaimVerdict.HOLDS, why, evidence)


def weigh_interleaving() -> Weighed:
    merged = {
        f"{name} bios per request": counted(v, 4)["bios"] / counted(v, 4)["requests"]
        for name, v in (("v1", Variant.V1), ("v3", Variant.V3))
    }
    good = merged["v3 bios per request"] > merged["v1 bios per request"]
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "With one cluster per device different reclaimers get neighbouring ranges; with one per "
        "CPU a reclaim batch stays contiguous. A ram disk has no request queue and merges nothing.",
        merged,
    )


def weigh_diffstat() -> Weighed:
    rows = threads.figures("swap")
    parts = rows.loc[rows["quantity"] == "lines changed", "value"].sum()
    total = figure("insertions") + figure("deletions")
    return Weighed(
        ClaimVerdict.ARITHMETIC if parts == total else ClaimVerdict.CONTRADICTED,
        "The three files add up to the insertions and deletions.",
        {"lines in files": parts, "lines in total": total},
    )


def weigh_no_swapin() -> Weighed:
    rows = threads.figures("swap")
    touched = sorted(rows.loc[rows["quantity"] == "lines changed", "note"])
    good = "mm/memory.c" not in touched and len(touched) == figure("files-changed")
    return Weighed(
        ClaimVerdict.HOLDS if good else ClaimVerdict.CONTRADICTED,
        "do_swap_page() is in mm/memory.c, which the patch leaves alone.",
        {"files": ", ".join(touched)},
    )


def weigh_nr_swap_order() -> Weighed:
    proposed = [int(figure(f"nr-swap-order-{n}")) for n in (10, 7)]
    largest = {f"1 << ({n} - 1)": 1 << (n - 1) for n in proposed}
    fits = max(largest.values()) <= SWAPFILE_CLUSTER
    return Weighed(
        ClaimVerdict.HOLDS if fits else ClaimVerdict.CONTRADICTED,
        "Neither range is larger than a cluster. With 10 it is a whole one, as PMD order needs: "
        "the condition is meant as <=.",
        largest | {"SWAPFILE_CLUSTER": SWAPFILE_CLUSTER},
    )


# The published runs of the allocator test


@cache
def tested(variant: Variant, options: str, large_swapin: bool, batched_zap: bool) -> pd.DataFrame:
    """A model run of `swap/allocator-test`: one row an iteration, columns the counters."""
    params = AllocatorTest(
        variant=variant, options=options, large_swapin=large_swapin, batched_zap=batched_zap
    )
    return simulated.by_iteration(params)


def run_totals() -> pd.DataFrame:
    """Folios of each published run without Chris Li's series, by options, and the tool's own.

    The tool's totals follow from its options alone, whatever the allocator.
    """
    names = {"-a": "a", "-a -s": "as", "-s": "s", "none": "none"}
    printed = {
        options: published(f"chris-without-{name}").sum(axis=1) for options, name in names.items()
    }
    tool = {
        options: tested(Variant.V6_10, "" if options == "none" else options, False, False)
        for options in names
    }
    tool = {options: run.sum(axis=1)[:3] for options, run in tool.items()}
    both = {"printed": pd.DataFrame(printed), "tool": pd.DataFrame(tool)}
    return pd.concat(both, axis=1).astype(int).rename_axis("iteration")


def weigh_run(prefix: str, variant: Variant, options: str, **switches: bool) -> Weigh:
    """Weigh a published run: equal in each printed iteration, or in the part that falls back."""

    def weigh() -> Weighed:
        printed = published(prefix)
        model = tested(variant, options, **switches).loc[printed.index, printed.columns]
        equal = int((model == printed).all(axis=1).sum())
        totals = int((model.sum(axis=1) == printed.sum(axis=1)).sum())
        if equal == len(printed):
            verdict, why = ClaimVerdict.HOLDS, "The model gives every printed iteration."
        elif totals == len(printed):
            verdict = ClaimVerdict.OTHER_NUMBER
            why = "The totals are the tool's; how they divide differs from the model."
        else:
            # Of as many folios, the same part.
            scaled = printed.mul(model.sum(axis=1), axis=0)
            alike = scaled.equals(model.mul(printed.sum(axis=1), axis=0))
            verdict = ClaimVerdict.OTHER_NUMBER if alike else ClaimVerdict.CONTRADICTED
            why = "The totals, which the tool alone decides, are those of other options"
            why += "; the part that falls back is the model's." if alike else "."
        return Weighed(
            verdict,
            why,
            {
                "iterations equal": f"{equal} of {len(printed)}",
                "printed": pairs(printed),
                "model": pairs(model),
            },
        )

    return weigh


def weigh_barry_last() -> Weighed:
    printed = int(figure("barry-none-last-swpout")), int(figure("barry-none-last-swpout-fallback"))
    model = tested(Variant.V6_12, "", large_swapin=False, batched_zap=False)
    whole, split = printed
    same = model.index[(model["swpout"] == whole) & (model["swpout_fallback"] == split)]
    reached = ", ".join(map(str, same))
    evidence = {"iterations": reached, "iteration 100": pairs(model.tail(1))}
    if not reached:
        why = "No iteration of the model has these numbers."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        f"The number of that iteration is not known here, and any of {len(model)} may have the "
        f"pair by chance. The model has it in iteration {reached}.",
        evidence,
    )


def weigh_first_tool() -> Weighed:
    printed = published("tool1-chris")
    total, after = printed["swpout"].sum(), printed.loc[6:, "swpout"].sum()
    clusters = (64 << 20) // (SWAPFILE_CLUSTER * PAGE) - 1
    room = clusters * SWAPFILE_CLUSTER // 16
    return Weighed(
        ClaimVerdict.ARITHMETIC if total == room and after == 0 else ClaimVerdict.CONTRADICTED,
        "64 KiB swap-outs stop when the free clusters are used up, and no earlier: the header "
        "takes one cluster of 32.",
        {"swap-outs": int(total), "ranges in free clusters": room, "printed": pairs(printed)},
    )


def weigh_kairui() -> Weighed:
    ratio = figure("kairui-64k") / figure("kairui-4k")
    why = "A throughput of a machine with pmem; a model without time has nothing to say."
    evidence = {"64K over 4K": round(ratio, 3)}
    return Weighed(ClaimVerdict.NOT_TESTABLE, why, evidence, judgement=True)
