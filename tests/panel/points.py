"""Points of the whole range of a panel's parameters, each of a run that ends soon."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from lorelab.experiments import experiment
from lorelab.panel import kept, values
from lorelab.params import Params
from lorelab.vmalock.experiments.protocol import configuration_of

LONGEST = 2.0
"""Seconds that a run of a point may take in compiled code, as `SECONDS` tells it."""
SECONDS: dict[str, Callable[[Any], float]] = {
    "fairzone/tiobench": lambda p: (
        p.mib * 2.56 * p.data_percent * (12 if p.workload == "two-files" else 2) * 200e-9
        + p.random_ops * 2e-6
    ),
    "damon/hot-range": lambda p: (
        p.windows * (p.samples * max(p.min_regions, 100) * 50e-9 + p.aggr_us * 2e-10)
    ),
    "swap/allocator-test": lambda p: p.iterations * 20e-3,
    "gso/traffic": lambda p: p.sends * -(-p.length // p.segment) * 10e-9,
    "vmalock/contention": lambda p: (
        p.ms * 1e6 * min(p.threads, p.cpus) / (p.think_ns + 2000 / p.per_ns) * 70e-9
    ),
}
"""About how long a run takes, where its parameters tell: pages, checks and simulated time,
iterations, packets or operations, times what one takes. Of other runs nobody knows it before."""
ENDS = {("damon/hot-range", "min_regions"): (3, 100_000)}
"""Of a range that declares no end: `max_regions` is beyond the lower bound."""
FULL = {
    "swap/allocator-test": {"device_mib": str(2**20)},
    "fairzone/tiobench": {"mib": "65536", "data_percent": "1000", "workload": "two-files"},
}
"""What takes more memory than a page has; tests/panel/test_memory.py has panels without any."""
RUNS = {"vmalock/protocol": configuration_of}
"""What refuses values before they are run."""


Point = tuple[Params, dict[str, str]]
"""Parameters, and as the form's fields have them."""


def points(question: str, number: int, seed: int) -> list[Point]:
    """The first of the points that are drawn."""
    return list(islice(drawn(question, seed), number))


def drawn(question: str, seed: int) -> Iterator[Point]:
    """Random parameters that a run may have, without end.

    Every field takes values of its whole range: an end, one from all of it, or one whose size is
    drawn, so that small ones come as often as large ones. Drawn anew is a point that no run may
    have, or whose run would be longer than `LONGEST`: a long run with few threads, or a short one
    with many, is among the points, a long one with many is not.
    """
    numbers = random.Random(f"{question} {seed}")
    model = experiment(question).Params
    described = kept.described(question)
    form = values.fields(model, model(), described.CHOICES)
    refused = values.refused(model, described.CHOICES)
    while True:
        typed = {field["name"]: _value(field, question, numbers) for field in form}
        if any(typed[a] == x and typed[b] == y for a, x, b, y, _ in refused):
            continue
        try:
            params = model.model_validate(typed)
            RUNS.get(question, lambda _: None)(params)
        except ValueError:
            continue
        if SECONDS.get(question, lambda _: 0)(params) <= LONGEST:
            yield params, typed


def _value(field: dict[str, Any], question: str, drawn: random.Random) -> str:
    if "values" in field:
        return drawn.choice(field["values"])[0]
    if field["kind"] == "list":
        count, limit = drawn.choice([0, 1, field["most"]]), drawn.choice([1024, field["limit"]])
        return ",".join(str(drawn.randint(1, limit)) for _ in range(count))
    kind = {"int": int, "float": float}[field["kind"]]
    limits = {name: kind(number) for name, number, _ in field["bounds"]}
    step = limits.get("multiple_of", 1)
    least = limits.get("ge", limits.get("gt", 0))
    most = limits.get("le", limits.get("lt", least + step) - step)
    least, most = ENDS.get((question, field["name"]), (least, most))
    size = drawn.random()
    if kind is float:
        sized = least + (most - least) * 1e-6**size
        return str(drawn.choice([least, most, drawn.uniform(least, most), sized]))
    sized = min(most, least + int((most - least + 1) ** size) - 1)
    number = drawn.choice([least, most, drawn.randint(least, most), sized])
    return str(max(least, number // step * step))
