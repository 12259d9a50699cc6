"""What a context looks like from outside: its regions now, over time, and beside the truth."""

import numpy as np
import pandas as pd

from lorelab.damon.model import state
from lorelab.damon.model.damos import Action, damon_va_scheme_score
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.model.memory import PAGE_SIZE, Pages
from lorelab.damon.model.state import Damon, damon_first_region, head_of
from lorelab.damon.params import ALONE, Masim, Monitoring, Speeds
from lorelab.damon.workload.masim import Config
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.numerics import PAGE, U

COUNTS = ["nr_accesses", "last_nr_accesses", "age"]


def regions(ctx: Damon) -> pd.DataFrame:
    """Walk the lists of regions.

    Returns
    -------
    DataFrame
        `target`, `start`, `end` (addresses), `pages`, `nr_accesses`, `last_nr_accesses`, `age`.
    """
    linked = _linked(ctx)
    target = np.repeat(np.arange(len(ctx.nr_regions)), ctx.nr_regions.astype(int))
    rows = {
        "target": target,
        "start": [hex(start) for start in linked["start"]],
        "end": [hex(end) for end in linked["end"]],
        "pages": ((linked["end"] - linked["start"]) // PAGE_SIZE).astype(int),
    }
    return pd.DataFrame(rows | {name: linked[name] for name in COUNTS})


def history(
    params: Monitoring, windows: int, config: Config | None = None, speeds: Speeds = ALONE
) -> pd.DataFrame:
    """Regions in each of the first windows: as they are sampled, and as they are then reported.

    Parameters
    ----------
    params : Monitoring
    windows : int
    config : Config, optional
        The program; by default that of `params`.
    speeds : Speeds

    Returns
    -------
    DataFrame
        `stage` (sampled: after the split, or reported: after the merge), `window` (from 1),
        `begin` and `end` (s), `low` and `high` (addresses), `nr_accesses` and `age` (of the
        window before, where sampled).
    """
    pages = memory(params, config or configuration(params), speeds)
    ctx = context(params, pages)
    tables, begin = [], 0.0
    for window in range(1, windows + 1):
        sampled = _linked(ctx)
        n = kdamond_window(ctx, pages)
        end = float(pages.info["now"][0]) / 1e9
        for stage, rows in (("sampled", sampled), ("reported", ctx.trace[:n])):
            when = {"stage": stage, "window": window, "begin": begin, "end": end}
            bounds = {"low": rows["start"], "high": rows["end"]}
            counts = {name: rows[name] for name in ("nr_accesses", "age")}
            tables.append(pd.DataFrame(when | bounds | counts))
        begin = end
    return pd.concat(tables, ignore_index=True)


def _linked(ctx: Damon) -> np.ndarray:
    # A copy of the regions of all targets, in the order of their lists.
    order = []
    for t in range(len(ctx.nr_regions)):
        i, head = int(damon_first_region(ctx, U(t))), int(head_of(ctx, U(t)))
        while i != head:
            order.append(i)
            i = int(ctx.regions[i]["next"])
    return ctx.regions[order]


def heats(
    params: Masim,
    shape: tuple[int, int] = (40, 40),
    seconds: float = 0,
    speeds: Speeds = ALONE,
) -> pd.DataFrame:
    """Rates of access by time and address, in truth and as DAMON reports them.

    Parameters
    ----------
    params : Masim
    shape : (int, int)
        Columns (time) and rows (address) of the grid, over the program's regions.
    seconds : float
        How long to watch; 0 for all of the program.
    speeds : Speeds

    Returns
    -------
    DataFrame
        One row a run of cells of one colour: `what` (truth or model), `time` and `until` (s),
        `address` and `top` (MiB above the program's lowest region), `rate` (share of the samples
        of a window, to the nearest tenth). Cells at 0 are left out.
    """
    config = configuration(params)
    pages = memory(params, config, speeds, truth=True)
    ctx = context(params, pages)
    seconds = seconds or sum(phase.ms for phase in config.phases) / 1000
    columns, rows = shape
    base = int(pages.patterns["start"].min())
    size = int((pages.patterns["start"] + pages.patterns["sz"]).max()) - base
    edges = np.linspace(0, size, rows + 1)
    sums = np.zeros((2, columns, rows))
    lengths = np.zeros(columns)
    begin, samples = 0.0, params.samples
    while begin < seconds:
        passed = int(ctx.info["passed_sample_intervals"][0])
        n = kdamond_window(ctx, pages)
        passed = int(ctx.info["passed_sample_intervals"][0]) - passed
        end = float(pages.info["now"][0]) / 1e9
        column = min(int((begin + end) / 2 / seconds * columns), columns - 1)
        sums[0, column] += _truth(pages, edges, base, passed) * (end - begin)
        sums[1, column] += _reported(ctx.trace[:n], edges, base, samples) * (end - begin)
        lengths[column] += end - begin
        begin = end
    sums /= np.where(lengths, lengths, 1)[:, None]
    parts = [
        runs(np.round(rates, 1)).assign(what=what)
        for what, rates in zip(("truth", "model"), sums, strict=True)
    ]
    cells = pd.concat(parts, ignore_index=True)
    for name in ("time", "until"):
        cells[name] = cells[name] * seconds / columns
    for name in ("address", "top"):
        cells[name] = cells[name] * size / rows / 2**20
    return cells.round(4)


def _truth(pages: Pages, edges: np.ndarray, base: int, samples: int) -> np.ndarray:
    # Mean true rate of each cell of addresses; zeroes the truth for the next window.
    rates = np.clip(np.cumsum(pages.truth[:-1]) / samples, 0, 1)
    pages.truth[:] = 0
    upto = np.concatenate([[0], np.cumsum(rates)]) * PAGE
    at = np.arange(len(upto)) * PAGE - (base - int(pages.info["base"][0]))
    return np.diff(np.interp(edges, at, upto)) / np.diff(edges)


def _reported(trace: np.ndarray, edges: np.ndarray, base: int, samples: int) -> np.ndarray:
    # The same of the regions' counts. Addresses below the base wrap to negative offsets.
    low = (trace["start"] - U(base)).astype(np.int64)
    high = (trace["end"] - U(base)).astype(np.int64)
    heat = np.minimum(trace["nr_accesses"] / samples, 1) * (high - low)
    upto = np.concatenate([[0], np.cumsum(heat)])
    borders = np.stack([low, high], axis=1).ravel()
    return np.diff(np.interp(edges, borders, np.repeat(upto, 2)[1:-1])) / np.diff(edges)


def runs(rates: np.ndarray) -> pd.DataFrame:
    """Runs of equal cells along time, those at 0 left out.

    Parameters
    ----------
    rates : (columns, rows) array
        By time and address.

    Returns
    -------
    DataFrame
        `time`, `until` (columns), `address`, `top` (rows), `rate`.
    """
    rows = []
    for row, line in enumerate(rates.T):
        cuts = np.flatnonzero(np.diff(line)) + 1
        for first, last in zip([0, *cuts], [*cuts, len(line)], strict=True):
            if line[first] > 0:
                rows.append((first, last, row, row + 1, float(line[first])))
    return pd.DataFrame(rows, columns=["time", "until", "address", "top", "rate"])


def front(rows: pd.DataFrame) -> pd.DataFrame:
    """Mark the settings that no other one betters in both error and checks (the Pareto front).

    Parameters
    ----------
    rows : DataFrame
        Columns `error` and `checks`.

    Returns
    -------
    DataFrame
        With a column `front`.
    """
    ordered = rows.sort_values(["checks", "error"])
    return rows.assign(front=ordered["error"] < ordered["error"].cummin().shift(fill_value=np.inf))


def placed(pieces: list[tuple[int, int, int, int]], seed: int) -> Damon:
    """A context of regions that touch: pages, nr_accesses, last_nr_accesses, age of each."""
    ctx = state.damon_new_ctx([(0, 0, PAGE)], seed=seed)
    at, head = 1 << 30, U(len(ctx.regions) - 1)
    for pages, *counts in pieces:
        i = state.damon_insert_region(ctx, U(0), U(at), U(at + pages * PAGE), head)
        for name, count in zip(("nr_accesses", "last_nr_accesses", "age"), counts, strict=True):
            ctx.regions[i][name] = count
        at += pages * PAGE
    return ctx


def pageout_scores(ctx: Damon, counts: tuple[int, ...], ages: dict[str, int]) -> pd.DataFrame:
    """Priority for a pageout by count (a row each) and age in windows, both of equal weight."""
    region, scheme = np.zeros(1, state.REGION), np.zeros(1, state.SCHEME)
    scheme["action"], scheme["weight_nr_accesses"], scheme["weight_age"] = Action.PAGEOUT, 1, 1

    def score(count: int, age: int) -> int:
        region["nr_accesses_bp"], region["age"] = count * state.BP, age
        return int(damon_va_scheme_score(ctx.info[0], region[0], scheme[0]))

    return pd.DataFrame({name: [score(n, age) for n in counts] for name, age in ages.items()})
