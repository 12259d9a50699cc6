"""What the chapter found that maintainers of DAMON would want to know, or have mended since."""

import numpy as np
import pandas as pd

from lorelab import equivalence
from lorelab.damon.params import Hotspot, Masim
from lorelab.experiments import experiment
from lorelab.findings import Finding
from lorelab.numerics import PAGE

NEVER = 151
"""Windows that `damon/hotspot` writes down for a run of 150 that never told the hot range."""
PAIR = {"hot_kib": 256, "runs": 12, "windows": 150, "own": True}
TERABYTE = {"mib": 1 << 20, "hot_kib": 4 << 20, "runs": 30, "windows": 150, "own": True}
BATCH = 31
"""Pages that a CPU's batch of `folio_add_lru()` holds (PAGEVEC_SIZE, include/linux/pagevec.h)."""


def _recorded(name: str, params: Hotspot | Masim) -> pd.DataFrame:
    return experiment(name).recorded(params).counters


def _hotspot(**changes: object) -> pd.core.groupby.SeriesGroupBy:
    counters = _recorded("damon/hotspot", Hotspot(**changes))
    return counters.groupby("counter")["value"]


def last_count() -> str:
    """Windows cut in three, and runs that never told the hot range, alone and as one of two."""
    alone, paired = (_hotspot(**PAIR, kdamonds=number) for number in (1, 2))
    in_three = [100 * runs.mean()["in_three"] for runs in (alone, paired)]
    never = [int((runs.get_group("wait") == NEVER).sum()) for runs in (alone, paired)]
    told, shared = paired.sum()["told"], paired.sum()["as_shared"]
    return (
        f"With two kdamonds {in_three[1]:.0f} % of windows are cut in three instead of "
        f"{in_three[0]:.0f} %, and {never[1]} of {PAIR['runs']} runs never tell a hot range of "
        f"256 KiB in 1 GiB within {PAIR['windows']} windows instead of {never[0]}; "
        f"{shared:.0f} of {told:.0f} windows were cut as the count of both says."
    )


def fresh_pages() -> str:
    """Of 256 pages that are accessed all the time, those that DAMON sees."""
    params = {"workload": "whole", "mib": 1, "min_regions": 1000}
    seen = []
    for fresh in (False, True):
        counters = _recorded("damon/masim", Masim(**params, fresh=fresh))
        hot = counters.loc[counters["counter"] == "hot_seen", "value"]
        seen.append(hot.median() / PAGE)
    return (
        f"Of 256 pages in use all the time DAMON sees {seen[1]:.0f} while the last "
        f"{256 - seen[1]:.0f} wait in a batch of up to {BATCH}, and {seen[0]:.0f} once they are "
        "on a list."
    )


def offset() -> str:
    """Wait for a hot range in 1 TiB with 32 bits of offset and with 64, and draws out of reach."""
    off, on = (_hotspot(**TERABYTE, rand64=rand64) for rand64 in (False, True))
    waits = [list(runs.get_group("wait")) for runs in (on, off)]
    low, factor, high = equivalence.hodges_lehmann_ratio(*waits)
    medians = [np.median(each) for each in waits]
    return (
        f"In 1 TiB, hot 4 GiB are told apart after {medians[1]:.0f} windows at the median instead "
        f"of {medians[0]:.0f}: {factor:.1f} times as many ({low:.1f} to {high:.1f}, 95 %, "
        f"{TERABYTE['runs']} runs either way). None of {off.sum()['wide']:,.0f} draws from wider "
        f"regions went past 4 GiB; {on.sum()['out_of_reach']:,.0f} of "
        f"{on.sum()['wide']:,.0f} do with 64 bits."
    )


FINDINGS = [
    Finding(
        "damon",
        "shared-last-count",
        "kdamond_split_regions() keeps last_nr_regions in a static variable, so every kdamond "
        "overwrites it for all others, and a region is cut in three by another's count.",
        "whoever runs more than one kdamond",
        last_count,
        "a field of struct damon_ctx in place of the static variable",
        "7.3.4 has it (mm/damon/core.c, kdamond_split_regions())",
        True,
        "agree damon/hotspot -p hot_kib=256 -p runs=12 -p own=true -p kdamonds=2",
    ),
    Finding(
        "damon",
        "pages-on-no-list",
        "damon_get_folio() finds no folio that is on no LRU list, so the accessed bit of a page "
        "that was just faulted in is neither cleared nor looked at.",
        "small programs, whose working set waits in a CPU's batch",
        fresh_pages,
        "clear and read the accessed bit without the folio; only the idle flag needs one",
        "7.3.4 has half of it: the bit is not cleared (mm/damon/ops-common.c, damon_ptep_mkold()) "
        "and now looked at (mm/damon/vaddr.c, damon_young_pmd_entry()), so it always counts",
        True,
        "agree damon/masim -p workload=whole -p mib=1 -p min_regions=1000 -p fresh=true",
    ),
    Finding(
        "damon",
        "offset-of-32-bits",
        "damon_rand() draws 32 bits of a 64-bit width, so pages past 4 GiB of a region are never "
        "sampled, and a region is never cut there.",
        "whoever monitors regions above 4 GiB on 6.12 and its stable series",
        offset,
        "lib/kernel/damon/patches: the switch damon/rand64; in mainline a generator per context",
        "mended by 7.2 (include/linux/damon.h, damon_rand() takes the context)",
        False,
        "agree damon/hotspot -p mib=1048576 -p hot_kib=4194304 -p own=true -p runs=30",
    ),
]
