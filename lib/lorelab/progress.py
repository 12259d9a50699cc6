"""A bar on stderr for work that takes longer than two seconds, and nothing for the rest."""

from collections.abc import Iterator, Sequence
from time import monotonic
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
    """
    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    bar = progress.add_task(what, total=len(items))
    started = monotonic()
    try:
        for done, item in enumerate(items, start=1):
            yield item
            progress.update(bar, completed=done)
            if monotonic() - started > PATIENCE:
                progress.start()
    finally:
        progress.stop()
