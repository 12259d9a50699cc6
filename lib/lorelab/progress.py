"""A bar on stderr for work that takes longer than two seconds, and nothing for the rest."""

from collections.abc import Iterator, Sequence
from threading import Timer
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

Item = TypeVar("Item")
PATIENCE = 2.0
"""Seconds before a bar shows."""


def track(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Go through `items`; on a terminal, show how far once `PATIENCE` is over.

    Parameters
    ----------
    items : sequence
    what : str
        What is being done, for the reader of the bar.

    Examples
    --------
    >>> [2 * page for page in track([1, 2], "pages")]
    [2, 4]
    """
    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    bar = progress.add_task(what, total=len(items))
    # A timer, for the first item may take longest: it is where numba compiles.
    patience = Timer(PATIENCE, progress.start)
    patience.daemon = True
    patience.start()
    try:
        for done, item in enumerate(items, start=1):
            yield item
            progress.update(bar, completed=done)
    finally:
        patience.cancel()
        patience.join()
        progress.stop()
