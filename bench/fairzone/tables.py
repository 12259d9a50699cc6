"""What an allocation costs in numba, C and plain Python, and a large machine."""

from time import process_time

import numpy as np
from rich.table import Table

from bench.compare import apart
from bench.fairzone import implementations
from lorelab.errors import RunFailed
from lorelab.fairzone.params import Variant

REPEATS = 5
VARIANTS = (Variant.BASELINE, Variant.V1, Variant.MERGED)
ALLOCATIONS = 20_000_000
PYTHON_ALLOCATIONS = 1_000_000
BAR_C, BAR_PYTHON = 0.8, 100
BAR_SECONDS, BAR_MIB = 30, 2048


def speed() -> Table:
    """Nanoseconds an allocation, the best of interleaved runs; all give the same zones."""
    table = Table(title="ns an allocation: four CPUs in turn, reclaim to the high mark")
    for head in ("variant", "numba", "C", "of C", "bar", "Python", "times Python", "bar "):
        table.add_column(head, justify="left" if head == "variant" else "right")
    for variant in VARIANTS:
        table.add_row(variant.name, *_speed(variant))
    return table


def _speed(variant: Variant) -> tuple[str, ...]:
    implementations.model(variant, 1000)
    best = dict.fromkeys(("numba", "C"), np.inf)
    for _ in range(REPEATS):
        found = {}
        for name, run in (("numba", implementations.model), ("C", implementations.c)):
            begun = process_time()
            found[name] = run(variant, ALLOCATIONS)
            best[name] = min(best[name], process_time() - begun)
        _same("numba", found["numba"], found["C"])
    begun = process_time()
    expected = implementations.python(variant, PYTHON_ALLOCATIONS)
    slow = (process_time() - begun) / PYTHON_ALLOCATIONS * 1e9
    _same("Python", expected, implementations.c(variant, PYTHON_ALLOCATIONS))
    numba, c = (best[name] / ALLOCATIONS * 1e9 for name in ("numba", "C"))
    return (
        *(f"{numba:.1f}", f"{c:.1f}", f"{c / numba:.2f}", str(BAR_C)),
        *(f"{slow:.0f}", f"{slow / numba:.0f}", str(BAR_PYTHON)),
    )


def size() -> Table:
    """Memory of 64 GiB, a file of 128 GiB written and read."""
    table = Table(title="fairzone/tiobench: 64 GiB of memory, 128 GiB written and read")
    for head in ("variant", "seconds", "bar", "peak MiB", "bar ", "hits, %"):
        table.add_column(head, justify="left" if head == "variant" else "right")
    for variant in ("baseline", "v1"):
        found = apart("bench.fairzone.size", variant)
        row = (variant, f"{found['seconds']:.1f}", str(BAR_SECONDS))
        table.add_row(*row, f"{found['peak_mib']:.0f}", str(BAR_MIB), f"{found['hits']:.1f}")
    return table


def _same(name: str, found: tuple, expected: tuple) -> None:
    if not np.array_equal(found[0], expected[0]) or found[1] != expected[1]:
        raise RunFailed(f"fairzone: {name} takes other zones than C")
