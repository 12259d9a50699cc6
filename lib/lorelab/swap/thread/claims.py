"""Every figure of the swap-out thread, the runs published after it, and its claims in words."""

from lorelab.judging.claims import Claim, Weigh
from lorelab.swap.figures import DESIGN, figure
from lorelab.swap.params import Variant
from lorelab.swap.thread import cost, remarks
from lorelab.swap.thread.checks import (
    weigh_barry_last,
    weigh_bottleneck,
    weigh_capacity,
    weigh_cell,
    weigh_diffstat,
    weigh_fallback,
    weigh_first_tool,
    weigh_interleaving,
    weigh_kairui,
    weigh_no_fragmentation,
    weigh_no_search,
    weigh_no_swapin,
    weigh_nr_swap_order,
    weigh_reading,
    weigh_regression_gone,
    weigh_run,
    weigh_stealing,
    weigh_tied_up,
    weigh_tlbi,
    weigh_unit,
)


def _cell(size: str, column: str, order: int) -> Claim:
    id = f"v3-{size.lower()}-{column}"
    series = column == "series"
    weigh = weigh_unit if id == "v3-4k-base" else weigh_cell(id, order, series)
    kernel = "with the series" if series else "on the baseline"
    statement = f"{size} folios {kernel}: {figure(id):+.1f} % against 4K on the baseline."
    return Claim(DESIGN, id, statement, id, "sign of the model's event counts", weigh)


def _run(id: str, statement: str, variant: Variant, options: str, **switches: bool) -> Claim:
    check = "the tool's loop on the model, each iteration"
    weigh = weigh_run(id, variant, options, **switches)
    return Claim(DESIGN, id, statement, f"rows {id}-*", check, weigh)


def _claim(id: str, statement: str, place: str, check: str, weigh: Weigh) -> Claim:
    return Claim(DESIGN, id, statement, place, check, weigh)


OLD = {"large_swapin": False, "batched_zap": False}
"""Switches of the kernels that the published runs were made on: both features are 6.12's, and
Chris Li and Barry Song ran series that came before it."""
COUNTS = "event counts of small usemem runs on the model"
ARITHMETIC = "arithmetic on the printed figures"

CLAIMS = [
    *(
        _cell(size, column, order)
        for column in ("base", "series")
        for size, order in cost.ORDERS.items()
    ),
    _claim(
        "improvement",
        "The table shows a mean performance improvement; of what, it does not say.",
        "lines 71 to 78",
        "event costs fitted to three tables, under either reading",
        weigh_reading,
    ),
    _claim(
        "regression-gone",
        "With the series the 64K regression goes away.",
        "line 80",
        f"the later tables; {COUNTS}",
        weigh_regression_gone,
    ),
    _claim(
        "4k-improves",
        "With the series 4K improves slightly too.",
        "line 81",
        f"{COUNTS}; three tables against one spread",
        remarks.weigh_gain("4k"),
    ),
    _claim(
        "2m-improves",
        "With the series 2M improves slightly too.",
        "line 81",
        f"{COUNTS}; three tables against one spread",
        remarks.weigh_gain("2m"),
    ),
    _claim(
        "repeats",
        "Each cell is the mean of 5 runs.",
        "row repeats",
        "what the spread that is given later leaves open",
        remarks.weigh_repeats,
    ),
    _claim("tlbi", "Splitting adds TLB invalidations.", "lines 28 to 29", COUNTS, weigh_tlbi),
    _claim(
        "bottleneck",
        "The regression is due to those invalidations.",
        "line 28",
        "event costs fitted to the tables of v3 and v4",
        weigh_bottleneck,
    ),
    _claim(
        "no-swapin",
        "Nothing changes for swap-in.",
        "lines 38 to 39",
        "files that the patch touches",
        weigh_no_swapin,
    ),
    _claim(
        "thp-swap",
        "It applies only with CONFIG_THP_SWAP.",
        "lines 32 to 36",
        "none: no kernel of x86-64 is without it",
        remarks.weigh_config,
    ),
    _claim(
        "no-disk",
        "It applies only to a device that does not rotate.",
        "lines 32 to 36",
        "the tool's loop on a rotational device: model, and recorded run",
        remarks.weigh_no_disk,
    ),
    _claim(
        "any-order",
        "Any power of two of entries, from 1 to 1 << PMD_ORDER, can be allocated.",
        "row smallest-range",
        "one range of each order from a fresh device",
        remarks.weigh_any_order,
    ),
    _claim(
        "fallback",
        "With no free cluster left the folio is split and its pages are allocated one by one.",
        "lines 47 to 50",
        "usemem on a tight device",
        weigh_fallback,
    ),
    _claim(
        "interleaving",
        "Current clusters per CPU keep IO batched, because tasks do not interleave.",
        "lines 52 to 55",
        "bios a write request, v1 against v3, four reclaimers",
        weigh_interleaving,
    ),
    _claim(
        "stealing",
        "Order 0 may steal from reserved clusters, so no space is tied up when swap is full.",
        "lines 60 to 63",
        "usemem on a tight device, v2 against v3",
        weigh_stealing,
    ),
    _claim(
        "in-the-way",
        "A slot that the scanner took makes an order give its current cluster up.",
        "lines 250 to 259",
        "one slot of a current cluster taken on v3, and the next range asked for",
        remarks.weigh_in_the_way,
    ),
    _claim(
        "no-search",
        "Entries of any order are allocated without searching the map.",
        "lines 43 to 45",
        "bytes of swap_map that v3 reads, on a fresh and on a fragmented device",
        weigh_no_search,
    ),
    _claim(
        "no-fragmentation",
        "Orders do not share clusters, so alignment padding fragments nothing.",
        "lines 45 to 47",
        "clusters with gaps after all orders were allocated on v3",
        weigh_no_fragmentation,
    ),
    _claim(
        "tied-up",
        "Some 12 MiB are tied up in current clusters.",
        "row v2-tied-up",
        "free slots on v2 when order 0 fails",
        weigh_tied_up,
    ),
    _claim(
        "capacity",
        "70 processes of 1 GiB in 40 GiB of memory and 35 GiB of swap.",
        "lines 65 to 68",
        ARITHMETIC,
        weigh_capacity,
    ),
    _claim("diffstat", "119 insertions and 50 deletions.", "line 88", ARITHMETIC, weigh_diffstat),
    _claim(
        "nr-swap-order",
        "With 1 << (NR_SWAP_ORDER - 1) < SWAPFILE_CLUSTER, 10 or 7 is a reasonable constant.",
        "lines 131 to 135",
        ARITHMETIC,
        weigh_nr_swap_order,
    ),
    _claim(
        "align",
        "ALIGN(tmp + 1) equals what stands there.",
        "line 271",
        "both, for every slot of four clusters",
        remarks.weigh_align,
    ),
    _claim(
        "no-order-on-a-disk",
        "A rotating device can't take orders above 0.",
        "line 323",
        "the tool's loop on a rotational device: model, and recorded run",
        remarks.weigh_no_disk,
    ),
    _claim(
        "gate",
        "The only gate that orders above 0 need is si->cluster_info.",
        "lines 325 to 326",
        "orders 0 and 4 on v6.10 with cluster_info and without",
        remarks.weigh_gate,
    ),
    _claim(
        "no-page",
        "Of all the scanning logic only one goto has to leave for orders above 0.",
        "lines 332 to 334",
        "order 4, then order 0, on v6.10 with no free cluster",
        remarks.weigh_no_page,
    ),
    _run("chris-without-a", "6.10, -a: 32/192, 0/231, 0/227.", Variant.V6_10, "-a", **OLD),
    _run("chris-without-as", "6.10, -a -s: 0/224, 0/218, 0/222.", Variant.V6_10, "-a -s", **OLD),
    _run("chris-without-s", "6.10, -s: 0/224, 0/218, 0/222.", Variant.V6_10, "-s", **OLD),
    _run("chris-without-none", "6.10: 0/224, 0/218, 0/222.", Variant.V6_10, "", **OLD),
    _run("chris-with-a", "With the lists, -a: 224/0, 231/0, 227/0.", Variant.V6_12, "-a", **OLD),
    _run(
        "chris-with-none",
        "With the lists: 233/0, 134/98, 72/154, 40/183.",
        Variant.CHRIS_V4,
        "",
        **OLD,
    ),
    _run(
        "barry-none",
        "With the lists as merged: 233/0, 131/101, 71/155, 55/168.",
        Variant.V6_12,
        "",
        **OLD,
    ),
    _claim(
        "barry-last",
        "The last iteration shown of the run without options has 23/205.",
        "rows barry-none-last-*",
        "the tool's loop on the model, 100 iterations",
        weigh_barry_last,
    ),
    _claim(
        "first-tool",
        "6.10, first version of the tool: swap-outs stop in iteration 5.",
        "rows tool1-chris-*",
        ARITHMETIC,
        weigh_first_tool,
    ),
    _claim(
        "kairui",
        "usemem, random reads: 424907 KB/s in 4K, 163308 KB/s in 64K.",
        "rows kairui-*",
        "none",
        weigh_kairui,
    ),
]
