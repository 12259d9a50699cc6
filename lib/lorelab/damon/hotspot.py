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

What the chain leaves out: a cut through the hot range, a neighbour that was told apart because of
such a cut, the limit that the size of the largest region sets to the merge, and the first
regions' borders. It cuts in three always or never; the kernel does when the number of regions did
not change, so not in the window after one that found something.
"""

import math

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon import masim as language
from lorelab.damon.model import kdamond_window
from lorelab.damon.params import Hotspot, Variant
from lorelab.damon.setting import context, memory
from lorelab.damon.state import U
from lorelab.errors import BadInput
from lorelab.params import label
from lorelab.progress import track

PAGE = 4096


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
    share = min(hot / region, 1.0)
    least = samples // 10 + 1 if always else 1
    few = sum(math.comb(samples, k) * share**k * (1 - share) ** (samples - k) for k in range(least))
    return 1.0 - few


def _pieces(pieces: int) -> list[tuple[float, float]]:
    # Shares of the pieces of a region, each with the chance that it holds a given point.
    tenths = [tenth / 10 for tenth in range(1, 10)]
    found = []
    for left in tenths:
        found.append((1 - left, (1 - left) / 9))
        for share in tenths if pieces == 3 else (1.0,):
            found += [(left * share, left * share / (81 if pieces == 3 else 9))]
            if pieces == 3:
                found += [(left * (1 - share), left * (1 - share) / 81)]
    return found


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
            told = chance * stand_out(hot, piece, samples, always)
            step[k, int(np.argmin(np.abs(np.log(sizes) - math.log(piece))))] += told
            step[k, 0] += chance - told
    state = np.zeros(cells)
    state[0] = 1.0
    found = np.zeros(windows)
    for window in range(windows):
        state = state @ step
        found[window] = state[done].sum()
    return found


def isolated(params: Hotspot) -> int:
    """Windows until a region of at most twice the hot range's size covers half of it or more.

    Returns
    -------
    int
        0 where that did not come about in `params.windows`.
    """
    hot = params.hot_kib << 10
    side = ((params.mib << 20) - hot) // 2 // PAGE * PAGE
    sizes = {"above": side, "hot": hot, "below": side}
    ms = params.windows * params.aggr_us // 1000 * 4
    phase = language.Phase("steady", ms, (language.Access("hot", False, PAGE, 1),))
    pages = memory(params, language.Config(sizes, (phase,)), params.own)
    ctx = context(params, pages)
    start = int(pages.patterns["start"][0])
    for window in range(1, params.windows + 1):
        n = kdamond_window(ctx, pages, U(params.check_ns))
        rows = ctx.trace[:n]
        rows = rows[(rows["nr_accesses"] > 0) & (rows["end"] - rows["start"] <= 2 * hot)]
        low = np.maximum(rows["start"].astype(np.int64), start)
        high = np.minimum(rows["end"].astype(np.int64), start + hot)
        if np.clip(high - low, 0, None).sum() * 2 >= hot:
            return window
    return 0


def hotspot(params: Hotspot) -> pd.DataFrame:
    """Simulate `damon/hotspot`.

    Returns
    -------
    DataFrame
        Per window: share of the runs, and chance by the Markov chain, that the hot range has
        been isolated by then.
    """
    if params.hot_kib << 10 > params.mib << 19:
        raise BadInput(f"hot_kib={params.hot_kib}: takes at most half of mib={params.mib}")
    found = [
        isolated(params.model_copy(update={"seed": params.seed + n}))
        for n in track(range(params.runs), "runs")
    ]
    steps = np.arange(1, params.windows + 1)
    when = np.array([window or params.windows + 1 for window in found])
    share = (when[:, None] <= steps).mean(axis=0)
    expected = chain(
        params.hot_kib << 10,
        (params.mib << 20) / params.min_regions,
        params.aggr_us // params.sample_us,
        params.windows,
        always=params.own,
        pieces=2 if params.variant == Variant.SPLIT_2 else 3,
    )
    return counters.table(
        "damon/hotspot",
        label(params.variant),
        "model",
        {"isolated": ("share", share), "isolated_markov": ("share", expected)},
    )
