"""Which kernel function a function of a model mirrors, in one table for all chapters.

`data/kernel-functions.csv` has its release, file and line. The line is that of its definition in
the source which the laboratory builds; of a release that is not there the table has the file alone.
"""

import csv
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "data/kernel-functions.csv"
ELIXIR = "https://elixir.bootlin.com/linux/v{release}"


class Mirrored(NamedTuple):
    """A function of the kernel, and where it is defined."""

    function: str
    release: str
    file: str
    line: str
    """Empty where that source is not here."""

    @property
    def url(self) -> str:
        """Where it can be read."""
        at = f"source/{self.file}#L{self.line}" if self.line else f"A/ident/{self.function}"
        return f"{ELIXIR.format(release=self.release)}/{at}"


@cache
def table() -> dict[str, Mirrored]:
    """Kernel functions by the names of ours, without the library's."""
    with TABLE.open(newline="") as file:
        return {ours: Mirrored(*kernel) for ours, *kernel in list(csv.reader(file))[1:]}


def place(function: Callable) -> str:
    """Where a function of the library stands, and what it mirrors, as Markdown.

    Examples
    --------
    >>> from lorelab.faultaround.model.memory import do_read_fault
    >>> here, _, there = place(do_read_fault).partition(" mirrors ")
    >>> here.partition(", line ")[0], there[-12:]
    ('`lib/lorelab/faultaround/model/memory.py`', ' of 6.12.117')
    """
    python = getattr(function, "py_func", function)
    file = Path(inspect.getsourcefile(python))
    if not file.is_relative_to(ROOT):
        return ""
    here = f"`{file.relative_to(ROOT)}`, line {inspect.getsourcelines(python)[1]}"
    kernel = table().get(f"{python.__module__.removeprefix('lorelab.')}.{python.__qualname__}")
    if kernel is None:
        return here
    return f"{here} mirrors [`{kernel.function}()`]({kernel.url}) of {kernel.release}"
