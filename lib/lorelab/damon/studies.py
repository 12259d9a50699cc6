"""What the questions of `answers.ipynb` need beside the experiments: programs, exact chances."""

import math

import numpy as np
import pandas as pd

from lorelab.damon import masim, views
from lorelab.damon.model import kdamond_window
from lorelab.damon.params import Hotspot, Monitoring
from lorelab.damon.setting import context, memory
from lorelab.damon.state import U

PAGE = 4096
HOUR_MS = 3_600_000


def program(sizes: dict[str, int], *accesses: masim.Access, ms: int = HOUR_MS) -> masim.Config:
    """A program of one phase."""
    return masim.Config(sizes, (masim.Phase("steady", ms, accesses),))


def alternating(sizes: dict[str, int], ms: int, total_ms: int) -> masim.Config:
    """A program that touches its regions in turn, `ms` each, for `total_ms`."""
    names = list(sizes) * (total_ms // ms // len(sizes) + 1)
    phases = [
        masim.Phase(f"{n} {name}", ms, (masim.Access(name, False, PAGE, 1),))
        for n, name in enumerate(names)
    ]
    return masim.Config(sizes, tuple(phases))


def binomial(samples: int, p: float) -> np.ndarray:
    """Chance of each count from 0 to `samples`; (samples + 1,) float64."""
    return np.array(
        [math.comb(samples, k) * p**k * (1 - p) ** (samples - k) for k in range(samples + 1)]
    )


def apart(samples: int, p: float, threshold: int) -> float:
    """Chance that two independent counts of the same rate differ by more than the threshold."""
    chance = binomial(samples, p)
    k = np.arange(samples + 1)
    return float((np.outer(chance, chance) * (abs(k[:, None] - k) > threshold)).sum())


def addresses(config: masim.Config, name: str) -> tuple[int, int]:
    """First address of a region of the program, and the one after its last."""
    at = masim.VDSO[0]
    for region, size in config.regions.items():
        at -= -(-(size + masim.MALLOC_HEADER) // PAGE) * PAGE
        if region == name:
            return at, at + size
    raise KeyError(name)


def counts(params: Monitoring, windows: int, config: masim.Config, name: str) -> pd.Series:
    """Mean count over the bytes of one region of the program, by window as reported."""
    rows = views.history(params, windows, config)
    rows = rows[rows["stage"] == "reported"]
    low, high = addresses(config, name)
    # Offsets from the region fit a float; addresses do not.
    start = (rows["low"].astype(np.int64) - low).clip(0, high - low)
    end = (rows["high"].astype(np.int64) - low).clip(0, high - low)
    return ((end - start) * rows["nr_accesses"]).groupby(rows["window"]).sum() / (high - low)


def sharing(params: Hotspot, shared: bool) -> pd.DataFrame:
    """Two contexts of one machine, each over a process of its own, with a small hot range each.

    Parameters
    ----------
    params : Hotspot
        `runs` is not looked at. The second process is half the size of the first.
    shared : bool
        They share `last_nr_regions`, as in the kernel, or each has its own.

    Returns
    -------
    DataFrame
        A row a context: `regions` (mean, after a merge), `splits` a window, and `windows` until
        the hot range is reported by a region of at most twice its size (0: never).
    """
    made = []
    for mib in (params.mib, params.mib // 2):
        side = ((mib << 20) - (params.hot_kib << 10)) // 2 // PAGE * PAGE
        sizes = {"above": side, "hot": params.hot_kib << 10, "below": side}
        config = program(sizes, masim.Access("hot", False, PAGE, 1))
        pages = memory(params, config, params.own)
        static = made[0][0].static if shared and made else None
        made.append((context(params, pages, static=static), pages, addresses(config, "hot")))
    found, regions = [0, 0], [[], []]
    for window in range(1, params.windows + 1):
        for k, (ctx, pages, (low, high)) in enumerate(made):
            n = kdamond_window(ctx, pages, U(params.check_ns))
            regions[k].append(n)
            rows = ctx.trace[:n]
            small = (rows["nr_accesses"] > 0) & (rows["end"] - rows["start"] <= 2 * (high - low))
            inside = (rows["start"] < high) & (rows["end"] > low)
            if not found[k] and (small & inside).any():
                found[k] = window
    return pd.DataFrame(
        {
            "regions": [float(np.mean(one)) for one in regions],
            "splits": [int(ctx.info["splits"][0]) / params.windows for ctx, _, _ in made],
            "windows": found,
        }
    )
