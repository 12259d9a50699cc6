"""What users of 6.12's stable series would want to know of its swap allocator, and of today's."""

from collections.abc import Iterable
from datetime import date

import pandas as pd

from lorelab.judging.findings import ARCHIVES, LOOKED, Finding, PriorArt
from lorelab.swap.pages import recorded, simulated
from lorelab.swap.params import Mixed, Variant

ONE_FRAG = (
    "20250804172439.2331-1-ryncsn@gmail.com",
    "Kairui Song, August 2025: one frag cluster is tried, and nonfull clusters come before free "
    "ones (v2: 20250806161748.76651-1-ryncsn@gmail.com, the second as 9a42aed48421)",
)
FRAGMENTED = {"orders": "0:1,4:3", "fill": 0.8, "paged": 0.3, "turnovers": 4, "steps": 4}
SIZES = (64, 256, 1024, 4096)
HALF_PAGED = Mixed(paged=0.5, turnovers=4, steps=4)
"""The last step of this load, with four orders, is the table of Variants."""
EQUAL_SHARES = {"device_mib": 1024, "turnovers": 10, "steps": 10}
SEEDS = [1, 2, 3]


def _late(params: Mixed, counters: list[str]) -> pd.DataFrame:
    """Means of 6.12 and 7.2 after filling and one turnover."""
    pair = simulated.grid(params, variant=[Variant.V6_12, Variant.V7_2])
    return simulated.late(pair, counters, ["variant"], after=2)


def whole_list() -> str:
    """Slots that an order-4 allocation reads, by size of the device, and what a kernel read."""
    names = ["scanned_order4", "fallback_order4"]
    tables = {mib: _late(Mixed(device_mib=mib, **FRAGMENTED), names) for mib in SIZES}
    means = pd.concat(tables, names=["mib"])
    old, new = (means.xs(str(one), level="variant") for one in ("v6.12", "v7.2"))
    read = [one["scanned_order4"] for one in (old, new)]
    growth = [one.iloc[-1] / one.iloc[0] for one in read]
    apart = (old["fallback_order4"] - new["fallback_order4"]).abs().max()
    assert growth[0] > 10 > 2 > growth[1], "6.12 reads more on a larger device, 7.2 does not"
    searches = recorded.searches()
    kernel, model = (searches.xs(name, level=1) for name in ("6.12.117", "7.2 (model)"))
    assert kernel["visited"].is_monotonic_increasing, "the list grows with the device"
    assert (kernel["slots"] > 9 * model["slots"]).all(), "6.12.117 reads more at each size"
    slots = [", ".join(f"{one[mib]:,.0f}" for mib in SIZES) for one in read]
    return (
        f"Model, one seed, orders 0 and 4, devices of {', '.join(map(str, SIZES))} MiB 80 % full: "
        f"an order-4 allocation reads {slots[0]} slots in 6.12.117, and {slots[1]} in 7.2; the "
        f"shares that fall back are within {apart:.0f} points. 6.12.117 by probe, one run on each "
        f"of {_listed(kernel.index)} MiB, seed 1, equal to the model: "
        f"{_listed(kernel['slots'])} slots per order-4 allocation, and one that fails visits up to "
        f"{_listed(kernel['visited'])} of {_listed(kernel['clusters'])} clusters; the model of 7.2 "
        f"reads {_listed(model['slots'])} slots and visits {model['visited'].min():.1f} to "
        f"{model['visited'].max():.1f} clusters. {_listed(kernel['fail'])} % of the allocations "
        f"fail in 6.12.117, and {_listed(model['fail'])} % in 7.2. {_half_paged()}"
    )


def _half_paged() -> str:
    """What stands against one frag cluster: folios that find no room with half of them paged."""
    pair = {"device_mib": list(SIZES), "variant": [Variant.V6_12, Variant.V7_2]}
    table = simulated.grid(HALF_PAGED, **pair)
    fail = simulated.late(table, ["fallback_order4"], list(pair), after=4)["fallback_order4"]
    old, new = (fail.xs(str(one), level="variant") for one in ("v6.12", "v7.2"))
    more = (new - old).round(1)
    assert (more > 0).all() and (more > 10).sum() == 3, "7.2 fails more often"
    few, half = 100 * FRAGMENTED["paged"], 100 * HALF_PAGED.paged
    return (
        f"These loads have {few:.0f} % of the folios swapped in page by page, or the test's. With "
        f"{half:.0f} %, and orders 0, 2, 4 and 9, order 4 fails more often in 7.2: "
        f"{', '.join(f'{each:+.1f}' for each in more)} points on devices of "
        f"{', '.join(map(str, more.index))} MiB (model, one seed)."
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def huge_fallback() -> str:
    """Turnovers until most 2 MiB folios are split, in 6.12 and in 7.2, and the end of both."""
    pair = simulated.grid(Mixed(**EQUAL_SHARES), variant=[Variant.V6_12, Variant.V7_2], seed=SEEDS)
    split = pair[pair["counter"] == "fallback_order9"]
    by_turnover = split.pivot_table(index="step", columns=["variant", "seed"], values="value")
    most = (by_turnover > 50).idxmax() - 1
    old, new = (most[str(one)] for one in ("v6.12", "v7.2"))
    assert old.max() < new.min(), "7.2 places 2 MiB folios longer"
    end = by_turnover.iloc[-1]
    assert end.min() > 95, "in the end both split nearly all"
    whole = simulated.grid(Mixed(**EQUAL_SHARES, variant=Variant.V7_2, paged=0.0), seed=SEEDS)
    none = whole.loc[whole["counter"] == "fallback_order9", "value"]
    assert (none == 0).all(), "7.2 keeps room for whole folios"
    return (
        f"Model, {len(SEEDS)} seeds, orders 0, 2, 4 and 9 in equal shares of the pages, 1 GiB, 4 "
        f"CPUs, {100 * Mixed().paged:.0f} % of the large folios swapped in page by page: 6.12.117 "
        f"splits over half of the 2 MiB folios from turnover {_span(old)} on, 7.2 from "
        f"{_span(new)} on. After {EQUAL_SHARES['turnovers']} turnovers both split {end.min():.0f} "
        "% and more. If folios are swapped in whole, 7.2 splits none. No kernel was measured with "
        "2 MiB folios here."
    )


def _span(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def page_wise() -> str:
    """Share of 64 KiB folios that today's kernel splits, by how folios come back."""
    share = recorded.split_by_release(recorded.releases())
    six, seven = share["6.12.117, page by page"], share["7.3.4, page by page"]
    assert seven > six > 90, "7.3.4 splits more than 6.12.117 of what comes back page by page"
    whole = recorded.whole_on_7_3()
    assert share["6.12.117, whole folios"] == whole["swpout_fallback"] == 0, "whole folios"
    return (
        f"Recorded, one run each of thp_swap_allocator_test without options, 60 MiB of folios on "
        f"a device of 64 MiB: 7.3.4 splits {seven:.1f} % of the 64 KiB folios where pages come "
        f"back one by one, and 6.12.117 {six:.1f} %. Where folios come back whole, neither splits "
        f"one: 7.3.4 places {whole['swpout']:,.0f}."
    )


FINDINGS = [
    Finding(
        "swap",
        "frag-list-searched-whole",
        "cluster_alloc_swap_entry() of 6.12 tries each cluster of the order's frag list before it "
        "gives up, with si->lock held, however long that list is: a folio that finds no room pays "
        "for all of it.",
        "machines on 6.12 stable with large swap devices, large folios, and swap-in page by page",
        whole_list,
        PriorArt(
            {
                **dict([ONE_FRAG]),
                "b25786b4a981": "the first as merged for 6.18",
                "20250806161748.76651-2-ryncsn@gmail.com": "his numbers of it, of a kernel's build "
                "with 64 KiB folios: on zram system time goes from 21,524 to 6,278 s at 8 GiB, "
                "where 128,496 folios fell back before and 130,942 after, and from 11,610 to "
                "5,573 s at 10 GiB, where 20,917 and 19,254 did; on brd with SWP_SYNCHRONOUS_IO "
                "removed it goes from 26,292 to 9,463 s at 8 GiB, where 138,945 and 259,979 did, "
                "and stays at 7,394 and 7,400 s at 10 GiB, where none did; he concludes that "
                "failures are 'only very slightly higher or unchanged'",
                "CAF8kJuNSvQTxEOiWZRwwB4117713Ks51AvD0gbMhuA7KUhtARA@mail.gmail.com": "Chris Li's "
                "ack: it trades success for time, and clusters may gather on the frag list",
            },
            where=ARCHIVES,
            how="frag_clusters, alloc_swap_scan_list, the title of that commit, 6.12 stable, "
            "backport",
            when=date(2026, 11, 29),
        ),
        "to offer to a distribution: lib/kernel/swap/upstream/frag-list-searched-whole, for "
        "6.12.y. As b25786b4a981, one frag "
        "cluster is tried, booted in 6.12.117 without it and with. The rules of stable series take "
        "a fix of performance only from the kernel maintainer of a distribution, with what its "
        "users see; here no user's report was found, and no time measured but in emulation",
        "fixed for 6.18 by b25786b4a981; 7.3.4 has that commit by its source (mm/swapfile.c, "
        "alloc_swap_scan_list() with scan_all false), and 6.12.118 lacks it (Debian's source of "
        "20 November 2026)",
        True,
        "agree swap/probed -p options=-s -p iterations=20 -p large_swapin=false",
    ),
    Finding(
        "swap",
        "free-before-nonfull",
        "cluster_alloc_swap_entry() of 6.12 gives a whole free cluster to any order before it "
        "looks at partly used ones, so none is left for a 2 MiB folio, which takes only free ones.",
        "users of 2 MiB folios on 6.12 stable beside smaller ones",
        huge_fallback,
        PriorArt(
            {
                "20250806161748.76651-4-ryncsn@gmail.com": "Kairui Song, August 2025, v2, with a "
                "kernel's numbers: of 2 MiB folios 1,442 of 1,466 fell back before and 7 of 1,336 "
                "after; his load is a kernel's build, on 10 GiB of zram",
                "9a42aed48421": "as merged",
            }
        ),
        "mainline has it by that series: nonfull clusters first, except on devices with discard. "
        "For 6.12.y it is a matter of performance, no user's report was found, and no kernel was "
        "measured with 2 MiB folios here. There the nonfull loop would move above the "
        "free list; the switch swap/alloc_mode (nonfull-first) of lib/kernel/swap/patches does "
        "that on 6.12.117",
        "fixed before 7.2 (mm/swapfile.c)",
        False,
        "model swap/mixed -p device_mib=1024 -p variant=v7.2 -p turnovers=10 -p steps=10",
    ),
    Finding(
        "swap",
        "page-by-page-swap-in",
        "A device that is not synchronous, or a kernel on which zswap was ever enabled, gives "
        "folios back page by page (do_swap_page(), mm/memory.c), and their slots come free "
        "unaligned. On a device that is nearly full, the allocators of 6.12.117, 7.2.12 and 7.3.4 "
        "find little room among them.",
        "anyone who swaps 64 KiB folios to an SSD, or to zram after zswap",
        page_wise,
        PriorArt(
            {
                "242d12c98174": "Chuanhua Han and Barry Song, 6.12: whole folios from synchronous "
                "devices, for this reason among others",
                "tencent_8B437BE4F586C162950BF71954316C1EDB05@qq.com": "fujunjie, May 2026, RFC: "
                "whole folios from zswap, where it holds all of their range",
                "20241018105026.2521366-1-usamaarif642@gmail.com": "Usama Arif, October 2024, "
                "RFC: whole folios from zswap; a kernel's build got slower by thrashing",
            },
            where=ARCHIVES,
            how="large folio swap-in, swapin_readahead, SWP_SYNCHRONOUS_IO, fragmentation",
            when=LOOKED,
        ),
        "its developers know: whole-folio swap-in through readahead is what the series of 2024 "
        "left for later. On your own machine: zram, and zswap never enabled; whole folios can "
        "thrash, as the mails say",
        "7.3.4 has it, by its record and its source (mm/memory.c)",
        False,
        "kernel swap/allocator-test -p large_swapin=false --recorded 7.3.4+deb13-cloud-amd64",
    ),
]
