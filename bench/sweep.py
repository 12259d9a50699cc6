"""What a sweep costs a point, what a second worker brings, and the memory of a million points."""

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster
from rich.table import Table

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.running.sweep import page, plan, points, run
from lorelab.running.sweep.journal import Journal, Point

LIGHT = "swap/allocator-test"
REPEATS = 3
OVERHEAD_POINTS = 1_000
SPEED_POINTS = 200
MANY = 1_000_000
AT_ONCE = 2_000
BAR_MS, BAR_TIMES, BAR_MIB = 5, 1.8, 2048


def costs() -> Table:
    """Overhead a point, and one worker against two."""
    table = Table(title=f"A sweep of {LIGHT}", title_justify="left")
    for column in ("figure", "points", "found", "bar"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    _rows()  # compiled here: a worker that compiles for minutes answers no scheduler
    found = min(_overhead() for _ in range(REPEATS))
    table.add_row(
        "processor time a point, beside the model's",
        f"{OVERHEAD_POINTS:,}",
        f"{found:.2f} ms",
        f"at most {BAR_MS} ms",
    )
    # In pairs, for the machine's speed drifts by more than what is asked for while this runs.
    pairs = sorted(_seconds(1) / _seconds(2) for _ in range(REPEATS))
    table.add_row(
        "two workers against one, middle of pairs",
        f"{SPEED_POINTS}",
        f"{pairs[REPEATS // 2]:.2f} times",
        f"at least {BAR_TIMES}",
    )
    return table


def memory() -> Table:
    """Most memory that a process takes which keeps a million points and writes table and page.

    The rows of the points are those of one run of the model, kept as often; the workers, which are
    dealt a bounded number of points at once, are not in it.
    """
    table = Table(title=f"Memory of a sweep of {LIGHT}", title_justify="left")
    for column in ("points", "table, MiB", "most memory, MiB", "bar, MiB"):
        table.add_column(column, justify="right")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        size, most = pool.apply(keep, (MANY,))
    table.add_row(f"{MANY:,}", f"{size:.0f}", f"{most:.0f}", f"{BAR_MIB}")
    return table


def keep(number: int) -> tuple[float, float]:
    """Keep `number` points in a journal, write table and page; MiB of the table and of memory."""
    rows = _rows()
    with tempfile.TemporaryDirectory() as made:
        grid = plan.grid(LIGHT, (f"seed=1:{number}",))
        with Journal(Path(made), grid, "bench" * 8) as journal:
            for at in range(0, number, AT_ONCE):
                journal.keep([Point(one, rows) for one in range(at, min(at + AT_ONCE, number))])
            table, _ = page.write(journal, {})
        size = table.stat().st_size / 2**20
    return size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _rows() -> list:
    found = experiment(LIGHT)
    return points.rows(found.simulate(found.Params(iterations=1)))


@contextmanager
def _cluster(workers: int) -> Iterator[tuple[str, Client]]:
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as here,
        Client(here) as client,
    ):
        client.run(_rows)  # compiled functions are loaded before the clock runs
        yield here.scheduler_address, client


def _swept(address: str, grid: plan.Plan) -> None:
    with tempfile.TemporaryDirectory() as made, Journal(Path(made), grid, "bench" * 8) as journal:
        if failed := run.run(journal, address):
            raise RunFailed(f"{len(failed)} points failed: {next(iter(failed.values()))}")


def _overhead() -> float:
    """Milliseconds a point: dealer, scheduler and worker, less the model alone in this process."""
    grid = plan.grid(LIGHT, (f"seed=1:{OVERHEAD_POINTS}", "iterations=1"))
    with _cluster(1) as (address, client):
        began = time.process_time() + sum(client.run(time.process_time).values())
        _swept(address, grid)
        ended = time.process_time() + sum(client.run(time.process_time).values())
    points.simulate(LIGHT, [grid[0]])
    alone = time.process_time()
    points.simulate(LIGHT, list(grid))
    return (ended - began - (time.process_time() - alone)) / OVERHEAD_POINTS * 1e3


def _seconds(workers: int) -> float:
    grid = plan.grid(LIGHT, (f"seed=1:{SPEED_POINTS}", "iterations=100"))
    with _cluster(workers) as (address, _):
        began = time.monotonic()
        _swept(address, grid)
        return time.monotonic() - began
