"""`damon/hotspot`: how long until a small hot range stands out of a large cold one.

A hot range lies in a region of the largest size that merging may make. Every window the region
that holds the range is cut, at one to nine tenths with equal chance, and the left part cut again
where kdamond_split_regions() cuts in three. A sample falls on the hot range with the chance that
its share of the region gives, N times a window; a count above the merge threshold keeps the piece
from its neighbours. That is 0 while nothing was hit ten times, and a tenth of the samples where
something always is, as the page is that a process runs in (`own`), once that stands out itself.

The Markov chain follows the size of the piece that holds the range on a grid of logarithms. A
window that tells it apart lets it be cut further. One that does not lets it merge with its
neighbours, which are all cold and so were merged already: it is back at the size it began with.
(damon_split_regions_of(), damon_merge_regions_of() of 6.12.117.)

A hot range of HUGE_KIB and more is in huge pages, each touched once a round: a round page by page
would take a slow CPU longer than an interval. It is then made of the 2 MiB that its first bytes
lie in and of those that follow, which moves it by less than 2 MiB.

What the chain leaves out: a cut through the hot range, a neighbour that was told apart because of
such a cut, the limit that the size of the largest region sets to the merge, and the first
regions' borders. It cuts in three always or never; the kernel does when the number of regions did
not change, so not in the window after one that found something.
"""

import math

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.model.memory import HUGE as PMD_MAPPED
from lorelab.damon.model.memory import RESIDENT, Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.params import ALONE, Hotspot, Speeds, runs
from lorelab.damon.workload.hotspot import NAME, Outcome, check, counted, huge, program
from lorelab.damon.workload.setup import context, memory
from lorelab.params import label, seeded
from lorelab.progress import track


def stand_out(hot: float, region: float, samples: int, always: bool) -> float:
    """Chance that the count of a window sets a region apart from cold neighbours.

    Parameters
    ----------
    hot, region : float
        Sizes of the hot range and of the region that holds it.
    samples : int
        Samples of a window.
    always : bool
        Something else is accessed in every sample, so the threshold is samples / 10 and not a
        tenth of this region's own count.
    """
    return float(set_apart(min(hot / region, 1.0), samples, always))


def set_apart(share, samples: int, always: bool):
    """The same for a region of which a `share` is hot, or for an array of such."""
    least = samples // 10 + 1 if always else 1
    few = sum(math.comb(samples, k) * share**k * (1 - share) ** (samples - k) for k in range(least))
    return 1.0 - few


def _pieces(pieces: int) -> list[tuple[float, float]]:
    # Shares of the pieces of a region, each with the chance that it holds a given point.
    tenths = [tenth / 10 for tenth in range(1, 10)]
    shares = []
    for left in tenths:
        shares.append((1 - left, (1 - left) / 9))
        for share in tenths if pieces == 3 else (1.0,):
            shares += [(left * share, left * share / (81 if pieces == 3 else 9))]
            if pieces == 3:
                shares += [(left * (1 - share), left * (1 - share) / 81)]
    return shares


def chain(
    hot: float,
    span: float,
    samples: int,
    windows: int,
    always: bool,
    pieces: int = 3,
    cells: int = 200,
) -> np.ndarray:
    """Chance, window by window, that the range has stood out of a region of at most twice its size.

    Parameters
    ----------
    hot, span : float
        Sizes of the hot range and of the region that first holds it.
    samples : int
        Samples of a window.
    windows : int
    always : bool
        See `stand_out()`.
    pieces : int
        That a region is cut into, each window: 2 or 3.
    cells : int
        Of the grid, from `hot` to `span` on a logarithmic scale.

    Returns
    -------
    (windows,) float64 array
    """
    sizes = np.geomspace(span, hot, cells)
    done = sizes <= 2 * hot
    step = np.zeros((cells, cells))
    for k, size in enumerate(sizes):
        if done[k]:
            step[k, k] = 1.0
            continue
        for share, chance in _pieces(pieces):
            piece = max(size * share, hot)
            told_apart = chance * stand_out(hot, piece, samples, always)
            step[k, int(np.argmin(np.abs(np.log(sizes) - math.log(piece))))] += told_apart
            step[k, 0] += chance - told_apart
    state = np.zeros(cells)
    state[0] = 1.0
    isolated = np.zeros(windows)
    for window in range(windows):
        state = state @ step
        isolated[window] = state[done].sum()
    return isolated


def watched(params: Hotspot, speeds: Speeds = ALONE) -> Outcome:
    """Run it once, with the seed of `params`.

    Every kdamond watches a program of its own, all alike. The first one's is told apart.
    """
    hot = params.hot_kib << 10
    kdamonds: list[tuple[Damon, Pages]] = []
    for number in range(params.kdamonds):
        mine = seeded(params, params.seed + number * params.runs)
        pages = memory(mine, program(params), speeds, params.own, memory=huge(params))
        pages.flags[:], pages.todo[:] = RESIDENT | PMD_MAPPED, 0
        static = kdamonds[0][0].static if kdamonds else None
        kdamonds.append((context(mine, pages, static=static), pages))
    ctx, pages = kdamonds[0]
    start = int(pages.patterns["start"][0])
    regions, thirds = [], []
    in_three = params.variant.traits.pieces == 3
    for window in range(1, params.windows + 1):
        last = ctx.static[0]
        n = kdamond_window(ctx, pages)
        regions.append(n)
        rows = ctx.trace[:n]
        rows = rows[(rows["nr_accesses"] > 0) & (rows["end"] - rows["start"] <= 2 * hot)]
        low = np.maximum(rows["start"].astype(np.int64), start)
        high = np.minimum(rows["end"].astype(np.int64), start + hot)
        if np.clip(high - low, 0, None).sum() * 2 >= hot:
            return Outcome(window, float(np.mean(regions)), float(np.mean(thirds or [0])))
        thirds.append(last == n < params.max_regions // 3 and in_three)
        for other, memory_ in kdamonds[1:]:
            kdamond_window(other, memory_)
    return Outcome(0, float(np.mean(regions)), float(np.mean(thirds)))


def simulate(params: Hotspot, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Simulate `damon/hotspot`.

    Returns
    -------
    DataFrame
        Per window: share of the runs, and chance by the Markov chain, that the hot range has been
        isolated by then. Per run: the window in which it was, or the one after the last; and
        until then, the mean number of regions and the share of cuts in three.
    """
    check(params)
    outcomes = [watched(one, speeds) for one in track(runs(params), "runs")]
    expected = chain(
        params.hot_kib << 10,
        (params.mib << 20) / params.min_regions,
        params.samples,
        params.windows,
        always=params.own,
        pieces=params.variant.traits.pieces,
    )
    columns = counted(params, outcomes) | {"isolated_markov": ("share", list(expected))}
    return counters.table(NAME, label(params.variant), "model", columns)
