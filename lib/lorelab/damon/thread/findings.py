"""What the chapter found that maintainers of DAMON would want to know, or have fixed since."""

from datetime import date

import numpy as np
import pandas as pd

from lorelab.damon.kernel.boot import QEMU_TLB
from lorelab.damon.pages import mainline, recorded, today
from lorelab.damon.pages.today import SEARCH
from lorelab.damon.params import Hotspot, Masim
from lorelab.experiments import experiment
from lorelab.judging import equivalence
from lorelab.judging.findings import ARCHIVES, LOOKED, Finding, PriorArt
from lorelab.numerics import PAGE

NEVER = 151
"""Windows that `damon/hotspot` writes down for a run of 150 that never told the hot range."""
FEW_REGIONS = {"programs": ("stairs-30secs", "zigzag-30secs"), "bound": 20, "runs": 12}
"""Where 7.3.4 splits some regions only, beginning at `rotation`."""
DEFAULT_BOUND = 1000
"""`max_nr_regions` as damo and DAMON's modules set it."""
REPEATED = {"repeats": 300, "windows": 150}
"""Searches by the model; the records have `today.SEARCH`."""
MISSED_BY = ("7.3.4", "6.12.117", "6.12.117 at the speeds of its record")
TERABYTE = {"mib": 1 << 20, "hot_kib": 4 << 20, "runs": 30, "windows": 150, "own": True}
TOO_FEW = "Model and kernel agree in regions; too few runs to compare the waits."
"""What `agree` says of the runs with 256 KiB and with 4 GiB."""
PUSHES = "kernel.org's log of pushes"
CHEN_V3 = "https://go.mail-archive.com/linux-kernel@vger.kernel.org/msg2639367.html"
BATCH = 31
"""Pages that a CPU's batch of `folio_add_lru()` holds (PAGEVEC_SIZE, include/linux/pagevec.h)."""


def _recorded(name: str, params: Hotspot | Masim) -> pd.DataFrame:
    return experiment(name).recorded(params).counters


def _hotspot(**changes: object) -> pd.core.groupby.SeriesGroupBy:
    counters = _recorded("damon/hotspot", Hotspot(**changes))
    return counters.groupby("counter")["value"]


def last_count() -> str:
    """Windows split three ways, and runs that missed the hot range, alone and as one of two."""
    alone, paired = (_hotspot(**SEARCH, kdamonds=number) for number in (1, 2))
    in_three = [100 * runs.mean()["in_three"] for runs in (alone, paired)]
    never = [int((runs.get_group("wait") == NEVER).sum()) for runs in (alone, paired)]
    told, shared = paired.sum()["told"], paired.sum()["as_shared"]
    assert in_three[1] < in_three[0] and never[0] < never[1], "two kdamonds split less"
    return (
        f"{_on_7_3()} 6.12.117, {SEARCH['runs']} runs each, two kdamonds on one process against "
        f"one: {in_three[1]:.0f} % of windows split regions three ways instead of "
        f"{in_three[0]:.0f} %, and {never[1]} runs miss a hot range of 256 KiB in 1 GiB for "
        f"{SEARCH['windows']} windows instead of {never[0]} (Fisher, p = "
        f"{_fisher(never, SEARCH['runs']):.2f}). {shared:.0f} of {told:.0f} windows were "
        f"split by the shared count. {TOO_FEW}"
    )


def _on_7_3() -> str:
    """What the model of 7.3.4 and a booted kernel of it say of both variables."""
    names = ["neither (the fix)", "last_nr_regions", "both (7.3.4)"]
    errors = {}
    for program in FEW_REGIONS["programs"]:
        runs = today.shared(program, FEW_REGIONS["bound"], FEW_REGIONS["runs"], names=names)
        errors[program] = 100 * runs.groupby("shared")["rate_error"].mean()[names]
    neither, last, both = pd.DataFrame(errors).to_numpy()
    assert (both > 1.2 * neither).all(), "rotation costs accuracy"
    assert (last == neither).all(), "the last count costs none at this bound"
    ranges = [
        f"from {low:.2f} to {high:.2f} % on {program}"
        for program, low, high in zip(errors, neither, both, strict=True)
    ]
    return (
        f"Model of 7.3.4, {FEW_REGIONS['runs']} runs each, windows of two kdamonds in turn. "
        f"{_at_the_default()} At max_nr_regions {FEW_REGIONS['bound']} the shared rotation raises "
        f"the error of the rate {' and '.join(ranges)}; last_nr_regions by itself changes nothing "
        f"there. {_booted()}"
    )


def _at_the_default() -> str:
    """What stands against the finding: at the default bound hardly anything is lost."""
    names = ["neither (the fix)", "both (7.3.4)"]
    errors = []
    for program in FEW_REGIONS["programs"]:
        runs = today.shared(program, DEFAULT_BOUND, FEW_REGIONS["runs"], names=names)
        table = runs.pivot_table(index="seed", columns="shared")
        fixed, both = (table.xs(name, axis=1, level="shared") for name in names)
        pages = [one["checks_per_second"].mean() for one in (fixed, both)]
        assert pages[1] < pages[0], "fewer checks in the mean"
        worse = int((both["rate_error"] > fixed["rate_error"]).sum())
        low, high = (100 * one["rate_error"].mean() for one in (fixed, both))
        errors.append(f"{low:.2f} and {high:.2f} % on {program}, larger in {worse} of {len(table)}")
    missed = today.missed(**REPEATED)
    new, old, guest = (missed.loc[rules] for rules in MISSED_BY)
    chances = [_fisher(list(one), REPEATED["repeats"]) for one in (new, old, guest)]
    assert chances[0] > 0.5 and max(chances[1:]) < 0.001, "a second kdamond costs 6.12 alone"
    return (
        f"At the default max_nr_regions of {DEFAULT_BOUND:,} the errors of the rate, without and "
        f"with sharing, are {'; '.join(errors)}, with fewer pages "
        f"checked in the mean. Of {REPEATED['repeats']} searches for 256 hot KiB in 1 GiB, by two "
        f"kdamonds and by one, {new[2]} and {new[1]} miss them: no cost is shown. By 6.12.117's "
        f"rules {old[2]} and {old[1]} do, at the speeds of its records {guest[2]} and {guest[1]}."
    )


def _booted() -> str:
    regions = mainline.sizes_beside().query("kernel == '7.3.4'").set_index("shared")
    assert ((regions["beside"] / regions["alone"] - 1).abs() > 0.08).all(), "both tell"
    sizes = [
        f"{regions.loc[name, 'beside']:,} KiB instead of {regions.loc[name, 'alone']:,} ({name})"
        for name in ("last_nr_regions", "rotation")
    ]
    return (
        "A booted 7.3.4 (QEMU, one run), idle ranges: beside another kdamond the mean region has "
        f"{' and '.join(sizes)}."
    )


def _fisher(missed: list[int], runs: int) -> float:
    # Here, for it takes as long to import as all else that a claim or a finding asks for.
    from scipy.stats import fisher_exact

    return float(fisher_exact([[each, runs - each] for each in missed]).pvalue)


def fresh_pages() -> str:
    """Of 256 pages in use those that 6.12 sees, and of idle ones those that 7.3.4 takes for hot."""
    params = {"workload": "whole", "mib": 1, "min_regions": 1000}
    pages = []
    for fresh in (False, True):
        counters = _recorded("damon/masim", Masim(**params, fresh=fresh))
        hot = counters.loc[counters["counter"] == "hot_seen", "value"]
        pages.append(hot.median() / PAGE)
    assert pages[1] < pages[0], "fresh pages are not seen"
    [(release, _), *_] = mainline.recorded()
    stale = mainline.untouched(release).sum()
    without, patched = mainline.ring_in_use().values()
    assert patched < without, "the ring in use"
    hidden, flushed = (recorded.count(mib=1, tlb=tlb) for tlb in (QEMU_TLB, 0))
    switched = recorded.count(mib=1, tlb=QEMU_TLB, switch_us=10_000)
    assert hidden < 0.1 < 16 < switched < 18 < flushed, "the TLB hides ordinary memory"
    return (
        f"7.3.4, one run: {stale['in all']} of {stale.sum()} pages that the program left count "
        f"as accessed in each sample of a window. 6.12.117, one run: of 256 in use DAMON sees "
        f"{pages[1]:.0f} while the last {256 - pages[1]:.0f} wait in a batch of up to {BATCH}, and "
        f"{pages[0]:.0f} once they are on a list. Not explained: the reproducer's control, its "
        f"ring in use, counts in {without} aggregations without the patch and in "
        f"{patched} with it (7.3.4 in QEMU). QEMU's TLB may be why: on "
        f"6.12.117 1 MiB of ordinary memory in use counts in {hidden:.1f} of 20 "
        f"samples without context switches, in {switched:.1f} with one each 10 ms, and flushed in "
        f"{flushed:.1f} (one run each)."
    )


def offset() -> str:
    """Wait for a hot range in 1 TiB with 32 bits of offset and with 64, and draws out of reach."""
    off, on = (_hotspot(**TERABYTE, rand64=rand64) for rand64 in (False, True))
    waits = [list(runs.get_group("wait")) for runs in (on, off)]
    low, factor, high = equivalence.hodges_lehmann_ratio(*waits)
    medians = [np.median(each) for each in waits]
    assert low > 1 and off.sum()["out_of_reach"] == 0, "longer, and all within the first bytes"
    return (
        f"6.12.117: in 1 TiB, hot 4 GiB are found after {medians[1]:.0f} windows at the median "
        f"instead of {medians[0]:.0f}. Over all pairs of runs the median quotient is {factor:.1f} "
        f"({low:.1f} to {high:.1f}, 95 %, {TERABYTE['runs']} runs each). Of "
        f"{off.sum()['wide']:,.0f} draws from regions above "
        f"4 GiB none lies at or past the size modulo 4 GiB; with 64 bits "
        f"{on.sum()['out_of_reach']:,.0f} of {on.sum()['wide']:,.0f} do. {TOO_FEW}"
    )


FINDINGS = [
    Finding(
        "damon",
        "shared-last-count",
        "kdamond_split_regions() keeps last_nr_regions in a static variable, so every kdamond "
        "overwrites it for the others: whether a region is split three ways depends on another "
        "kdamond's count. 7.3.4 has a second static variable of that kind, rotation, in "
        "damon_split_some_regions().",
        "anyone who runs two kdamonds: nr_kdamonds of sysfs above 1, samples/damon/mtier.c "
        "(not DAMON_STAT, which is exclusive)",
        last_count,
        PriorArt(
            {
                CHEN_V3: "Jiayuan Chen, v3, with SJ Park's Reviewed-by, adds rotation; nobody "
                "speaks of two kdamonds in the mails found, which are the posts of v1, v2 and v3, "
                "and the answers to v1"
            },
            where=ARCHIVES,
            how="kdamond_split_regions, last_nr_regions, rotation, static, race, and the titles of "
            "v2 and v3 for answers",
            when=date(2026, 11, 30),
        ),
        "lib/kernel/damon/upstream/shared-last-count: fields of struct damon_ctx in place of both, "
        "with a kunit test, booted in 7.3.4 without them and with them",
        "7.3.4 has both (mm/damon/core.c). rotation came with Jiayuan Chen's 1a582e6e0174, which "
        f"was in a push to Linus Torvalds' tree on 21 August 2026 ({PUSHES})",
        True,
        "findings damon/shared-last-count",
        config="kunit",
    ),
    Finding(
        "damon",
        "pages-on-no-list",
        "In 7.3.4 a mapped page on no LRU list counts as accessed in each sample: "
        "damon_ptep_mkold() neither clears its accessed bit nor marks it idle, and "
        "damon_young_pmd_entry() asks for "
        "either. In 6.12 such a page never counted.",
        "users of mappings that are on no list for good (seen: AF_PACKET rings; by reading: fsdax, "
        "device-dax and io_uring rings), and small programs whose pages wait in a CPU's batch",
        fresh_pages,
        PriorArt(
            {
                "20251112154114.66053-5-sj@kernel.org": "SeongJae Park, November 2025, the change "
                "that this is a regression of; it speaks of a clean-up"
            },
            where=ARCHIVES,
            how="damon_ptep_mkold, damon_young_pmd_entry, vm_normal_folio, AF_PACKET, DAX",
            when=LOOKED,
        ),
        "lib/kernel/damon/upstream/pages-on-no-list: damon_ptep_mkold() looks the folio up as "
        "damon_young_pmd_entry() does, booted in 7.3.4 without it and with it",
        "a regression by SeongJae Park's f0eb046cd3cc, 'mm/damon/vaddr: use "
        "vm_normal_folio{,_pmd}() instead of damon_get_folio()', which Linus Torvalds' tree had on "
        f"6 December 2025 ({PUSHES}). 7.3.4 has it",
        True,
        "findings damon/pages-on-no-list",
        config="kunit",
        not_ready="its control, a ring in use, is not explained, and its reproducer would pass a "
        "DAMON that sees no page at all",
    ),
    Finding(
        "damon",
        "offset-of-32-bits",
        "damon_rand() keeps 32 bits of a 64-bit width. Of a region above 4 GiB only the first "
        "(size modulo 4 GiB) bytes are ever sampled: of 6 GiB the first 2, and of 8 GiB the "
        "first 4.",
        "anyone who monitors regions above 4 GiB on 6.12 and its stable series",
        offset,
        PriorArt(
            {
                "https://lkml.iu.edu/2605.0/08730.html": "Jiayuan Chen, May 2026, v2 of 'mm/damon: "
                "replace damon_rand() with a per-ctx lockless PRNG': fixes it on the side, with "
                "a slow path above 32 bits; we saw no mail that names the truncation",
            },
            where=ARCHIVES,
            how="damon_rand, 4 GiB, get_random_u32_below, U32_MAX; by its source 7.2 has the fix",
            when=date(2026, 11, 30),
        ),
        "mainline's fix is a new generator per context, which is too much for a stable series. For "
        "6.12.y no patch is written: the switch damon/rand64 of lib/kernel/damon/patches shows "
        "what 64 bits do, and no user's report was found",
        "fixed by 7.2 (include/linux/damon.h, damon_rand() takes the context)",
        False,
        "agree damon/hotspot -p mib=1048576 -p hot_kib=4194304 -p own=true -p runs=30 "
        "-p windows=150",
    ),
]
