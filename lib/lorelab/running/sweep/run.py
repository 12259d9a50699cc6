"""Deal the points of a plan to Dask's workers, and keep each batch as it comes back."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from distributed import Client, Future, LocalCluster, as_completed
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lorelab.errors import BadInput, RunFailed
from lorelab.running.sweep import points
from lorelab.running.sweep.journal import Journal, Point

BATCH_SECONDS = 0.5
"""What a worker is given to do at once, so that dealing costs next to nothing a point."""
LARGEST_BATCH = 2_000
AHEAD = 3
"""Batches under way or waiting, a worker."""
A_BOOT = 8
"""Fewest points that are worth a boot of their own."""
CONNECT_SECONDS = 10


class Batch(NamedTuple):
    """Points that a worker does one after the other."""

    numbers: list[int]


def run(journal: Journal, scheduler: str | None = None) -> dict[int, str]:
    """Do all points of the journal's plan that are not finished yet.

    Parameters
    ----------
    journal : Journal
        Gets every point as soon as its batch is back.
    scheduler : str, optional
        Address of a Dask cluster that is there, which has this library; otherwise one is started
        here, with a worker for each CPU.

    Returns
    -------
    dict
        Number of each point that failed, to why.

    Raises
    ------
    BadInput
        Nothing answers at `scheduler`.
    RunFailed
        The scheduler went away, or the disk is full. What is in the journal stays.
    """
    left = [number for number in range(len(journal.plan)) if number not in journal.done]
    failed: dict[int, str] = {}
    if not left:
        return failed
    with _client(scheduler) as client, _bar(len(journal.plan), len(journal.done)) as advance:
        try:
            for number, why in _dealt(client, journal, left, advance):
                failed[number] = why
        except (CancelledError, FutureCancelledError, OSError) as error:
            # A killed scheduler may close what a result comes by before the client knows of it.
            lost = not isinstance(error, OSError) or isinstance(error, CommClosedError)
            if not lost and client.status == "running":
                raise
            kept = f"{len(journal.done)} of {len(journal.plan)} points are kept"
            raise RunFailed(f"the scheduler is gone; {kept}, run it again to go on") from None
    return dict(sorted(failed.items()))


def _dealt(
    client: Client, journal: Journal, left: list[int], advance: Callable[[int], None]
) -> Iterator[tuple[int, str]]:
    """Deal batches, keep what comes back, and yield what failed."""
    workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    size = max(A_BOOT, -(-len(left) // workers)) if journal.plan.kernel else 1
    dealt = {}
    again: list[Batch] = []
    at = 0

    def deal() -> Future | None:
        nonlocal at
        if again:
            batch = again.pop()
        elif at < len(left):
            batch = Batch(left[at : at + size])
            at += size
        else:
            return None
        future = _submit(client, journal, batch)
        dealt[future] = batch
        return future

    first = [future for _ in range(AHEAD * workers) if (future := deal())]
    coming = as_completed(first)
    for future in coming:
        batch = dealt.pop(future)
        status = future.status
        if status == "finished":
            done: points.Done = future.result()
            kept = [
                Point(number, [], result) if isinstance(result, str) else Point(number, result)
                for number, result in zip(batch.numbers, done.results, strict=True)
            ]
            journal.keep(kept)
            yield from ((point.number, point.failed) for point in kept if point.failed)
            advance(len(kept))
            if not journal.plan.kernel:
                each = max(done.seconds / len(kept), 1e-6)
                size = max(1, min(LARGEST_BATCH, int(BATCH_SECONDS / each)))
        elif status == "cancelled":
            raise CancelledError
        elif status != "error":
            # Its worker died before the result was fetched; the scheduler has it done again.
            dealt[future] = batch
            coming.add(future)
        elif len(batch.numbers) > 1:
            half = len(batch.numbers) // 2
            again += [Batch(batch.numbers[half:]), Batch(batch.numbers[:half])]
        else:
            why = f"{type(future.exception()).__name__}: {future.exception()}"
            journal.keep([Point(batch.numbers[0], [], why)])
            yield batch.numbers[0], why
            advance(1)
        while len(dealt) < AHEAD * workers and (more := deal()):
            coming.add(more)


def _submit(client: Client, journal: Journal, batch: Batch) -> Future:
    plan = journal.plan
    values = [plan[number] for number in batch.numbers]
    if plan.target.endswith(".ipynb"):
        folder = str(journal.folder.resolve())
        notebook = str(Path(plan.target).resolve())
        return client.submit(points.execute, notebook, folder, batch.numbers, values, pure=False)
    work = points.measure if plan.kernel else points.simulate
    return client.submit(work, plan.target, values, pure=False)


@contextmanager
def _client(scheduler: str | None) -> Iterator[Client]:
    # Of a scheduler that is gone it tells with tracebacks; one line of ours says the same.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise BadInput(f"--scheduler {scheduler}: {error}; takes tcp://HOST:PORT") from None
        with client:
            yield client
        return
    cpus = len(os.sched_getaffinity(0))
    with _no_ctrl_c():
        cluster = LocalCluster(
            n_workers=cpus, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
    with cluster, Client(cluster) as client:
        yield client


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Keep Ctrl-C from the processes that are started: they end with this one, and say nothing."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _bar(total: int, done: int) -> Iterator[Callable[[int], None]]:
    """A bar with the time that is left, on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("sweep"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("sweep", total=total, completed=done)
        yield lambda number: progress.advance(task, number)
