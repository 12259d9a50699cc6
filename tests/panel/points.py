"""Points of the whole range of a panel's parameters, each small enough to be run many times."""

import random
from typing import Any

from lorelab.experiments import experiment
from lorelab.panel import kept, values
from lorelab.params import Params
from lorelab.vmalock.experiments.protocol import configuration_of

SMALL: dict[str, dict[str, tuple[int, int]]] = {
    "fairzone/tiobench": {
        "mib": (64, 512),
        "min_free_kib": (128, 65536),
        "random_ops": (0, 5000),
        "data_percent": (1, 300),
        "steps": (1, 50),
    },
    "damon/hot-range": {
        "windows": (1, 12),
        "sample_us": (500, 100_000),
        "aggr_us": (500, 500_000),
        "min_regions": (3, 2_000),
    },
    "swap/holes": {},
    "swap/allocator-test": {"iterations": (1, 30), "device_mib": (2, 1024)},
    "gso/lifetimes": {"segments": (1, 2)},
    "gso/traffic": {"sends": (1, 20_000)},
    "vmalock/protocol": {},
    "vmalock/contention": {"ms": (1, 5), "threads": (1, 64), "vmas": (1, 64), "cpus": (1, 64)},
}
"""Ranges of what costs time and memory, narrower than the parameters' own."""
FULL = {
    "swap/allocator-test": {"device_mib": str(2**20)},
    "fairzone/tiobench": {"mib": "65536", "data_percent": "1000", "workload": "two-files"},
}
"""What takes more memory than a page has; tests/panel/test_memory.py has panels without any."""
RUNS = {"vmalock/protocol": configuration_of}
"""What refuses values before they are run."""


def points(question: str, number: int, seed: int) -> list[tuple[Params, dict[str, str]]]:
    """Random parameters that a run may have, and as the form's fields have them.

    A number comes from an end of its range, from all of it, or from its small values.
    """
    drawn = random.Random(f"{question} {seed}")
    model = experiment(question).Params
    described = kept.described(question)
    form = values.fields(model, model(), described.CHOICES)
    refused = values.refused(model, described.CHOICES)
    found = []
    while len(found) < number:
        typed = {field["name"]: _value(field, question, drawn) for field in form}
        if any(typed[a] == x and typed[b] == y for a, x, b, y, _ in refused):
            continue
        try:
            params = model.model_validate(typed)
            RUNS.get(question, lambda _: None)(params)
        except ValueError:
            continue
        found.append((params, typed))
    return found


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
    least, most = SMALL[question].get(field["name"], (least, most))
    if kind is float:
        return str(drawn.choice([least, most, drawn.uniform(least, most), least]))
    few = min(most, least + 8 * step)
    number = drawn.choice([least, most, drawn.randint(least, most), drawn.randint(least, few)])
    return str(max(least, number // step * step))
