"""Which points a sweep has: a grid of values, or a sample that fills the ranges evenly."""

import json
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from lorelab.errors import BadInput
from lorelab.params import assignments

LARGEST = 10_000_000
"""Points of a sweep; their numbers alone take some 100 MiB."""


class Plan(BaseModel):
    """The points of a sweep, in order.

    Attributes
    ----------
    target : str
        `design/experiment`, or the path of a notebook.
    kernel : bool
        Measured on a kernel, not simulated.
    swept : dict
        Name of each parameter to the values that it has in the grid, as typed; the last name
        changes fastest.
    drawn : list, optional
        The points of a sample, instead of a grid: a value for each name of `swept`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    kernel: bool = False
    swept: dict[str, list[str]]
    drawn: list[list[str]] | None = None

    def __len__(self) -> int:
        if self.drawn is not None:
            return len(self.drawn)
        return math.prod(len(values) for values in self.swept.values())

    def __getitem__(self, number: int) -> dict[str, str]:
        """Parameters of a point, as typed."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        if self.drawn is not None:
            return dict(zip(self.swept, self.drawn[number], strict=True))
        point = {}
        for name in reversed(self.swept):
            number, place = divmod(number, len(self.swept[name]))
            point[name] = self.swept[name][place]
        return {name: point[name] for name in self.swept}

    def __iter__(self) -> Iterator[dict[str, str]]:  # type: ignore[override]
        return (self[number] for number in range(len(self)))

    @cached_property
    def text(self) -> str:
        """The plan as it is kept beside its points."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def grid(target: str, pairs: tuple[str, ...], kernel: bool = False) -> Plan:
    """Read `name=a,b,c` and `name=first:last[:step]` into a grid.

    Raises
    ------
    BadInput
        Names the pair, and says what it takes.

    Examples
    --------
    >>> plan = grid("swap/allocator-test", ("seed=1:3", "cpus=1,2"))
    >>> len(plan), plan[1]
    (6, {'seed': '1', 'cpus': '2'})
    """
    values = {name: _values(name, text) for name, text in assignments(pairs).items()}
    plan = Plan(target=target, kernel=kernel, swept=values)
    if len(plan) > LARGEST:
        raise BadInput(f"{len(plan):,} points; takes up to {LARGEST:,}")
    return plan


def sample(
    target: str,
    pairs: tuple[str, ...],
    fields: dict[str, FieldInfo],
    number: int,
    kernel: bool = False,
) -> Plan:
    """Draw `number` points that fill ranges evenly (Sobol's sequence, scrambled with seed 1).

    Parameters
    ----------
    pairs : tuple of str
        `name=low:high`; or `name=:` for the range that the parameter declares. Of a list of values
        each is as likely.
    fields : dict
        Fields of the experiment's parameters, by name.

    Raises
    ------
    BadInput
        Names the pair, and says what it takes.

    Examples
    --------
    >>> list(sample("swap/allocator-test", ("cpus=1,2", "seed=1:100"), {}, 2))
    [{'cpus': '1', 'seed': '17'}, {'cpus': '2', 'seed': '94'}]
    """
    from scipy.stats import qmc

    assigned = assignments(pairs)
    ranges = [_range(name, text, fields.get(name)) for name, text in assigned.items()]
    if not ranges:
        raise BadInput("--sample: takes at least one -p NAME=LOW:HIGH, or -p NAME=:")
    drawn = qmc.Sobol(len(ranges), rng=np.random.default_rng(1)).random(number)
    points = [
        [_at(among, share) for among, share in zip(ranges, row, strict=True)] for row in drawn
    ]
    unique = [list(point) for point in dict.fromkeys(map(tuple, points))]
    return Plan(target=target, kernel=kernel, swept={name: [] for name in assigned}, drawn=unique)


def _values(name: str, text: str) -> list[str]:
    first, colon, rest = text.partition(":")
    if not colon:
        values = text.split(",")
        if len(set(values)) < len(values):
            raise BadInput(f"-p {name}={text}: a value is given twice")
        return values
    last, _, step = rest.partition(":")
    factor = step.startswith("*")
    try:
        low, high, by = (_number(word) for word in (first, last, step.lstrip("*+") or "1"))
    except ValueError:
        takes = "a,b,c or FIRST:LAST[:STEP], with STEP a number to add or *FACTOR"
        raise BadInput(f"-p {name}={text}: takes {takes}") from None
    grows = by > 1 and low > 0 if factor else by > 0
    if not grows or high < low:
        raise BadInput(f"-p {name}={text}: takes a range that grows from its first to its last")
    values, at, count = [], low, 0
    while at <= high * (1 + 1e-12):
        if count == LARGEST:
            raise BadInput(f"-p {name}={text}: has more than {LARGEST:,} values")
        values.append(f"{at:g}" if isinstance(at, float) else str(at))
        count += 1
        at = low * by**count if factor else low + count * by
    return values


def _number(word: str) -> int | float:
    try:
        return int(word)
    except ValueError:
        return float(word)


def _range(name: str, text: str, field: FieldInfo | None) -> Any:
    if ":" not in text:
        return _values(name, text)
    low, _, high = text.partition(":")
    bounds = _declared(field) if field is not None else (None, None)
    try:
        ends = [
            _number(word) if word else bound
            for word, bound in zip((low, high), bounds, strict=True)
        ]
    except ValueError:
        raise BadInput(f"-p {name}={text}: takes LOW:HIGH") from None
    if None in ends:
        raise BadInput(f"-p {name}={text}: the parameter declares no such bound; give LOW:HIGH")
    if ends[1] < ends[0]:
        raise BadInput(f"-p {name}={text}: takes LOW:HIGH, LOW first")
    whole = field is None or field.annotation is int
    return tuple(map(int, ends)) if whole else tuple(map(float, ends))


def _declared(field: FieldInfo) -> tuple[Any, Any]:
    """Smallest and largest value that a field takes; of an open bound, the next whole number."""

    def bound(name: str, step: int) -> Any:
        bounds = [getattr(each, name) + step for each in field.metadata if hasattr(each, name)]
        return bounds[0] if bounds else None

    lows, highs = (bound("ge", 0), bound("gt", 1)), (bound("le", 0), bound("lt", -1))
    first = [next((value for value in ends if value is not None), None) for ends in (lows, highs)]
    return first[0], first[1]


def _at(among: Any, share: float) -> str:
    if isinstance(among, list):
        return among[min(int(share * len(among)), len(among) - 1)]
    low, high = among
    if isinstance(low, int):
        return str(min(low + int(share * (high - low + 1)), high))
    return f"{low + share * (high - low):.6g}"
