"""Points of an experiment's ranges, and parameters that say which of them were read."""

import typing
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from hypothesis import strategies as st

from lorelab.params import Params, label

WIDE = 10**30
"""An end of a range that declares none: what can be typed has to be refused or run."""
TEXTS = ("", "x", "0", "-1", "a,b", "no/such/file")
"""Ends of a text: what most of them take for one of their own, and what none does."""

_TEST, _PROGRAM, _BITS, _MS = (
    {"iterations": 2},
    {"workload": "whole", "mib": 1},
    {"sequence_bits": 1},
    {"ms": 1},
)
SMALL: dict[str, dict[str, Any]] = {
    "swap/allocator-test": _TEST,
    "swap/paths": _TEST,
    "swap/probed": _TEST,
    "swap/switches": {"iterations": 2, "turns": 1, "cpus": 2},
    "swap/cpus": {"iterations": 1},
    "swap/usemem": {"processes": 2, "cpus": 2, "mib_each": 16, "memcg_mib": 8, "swap_mib": 32},
    "swap/mixed": {"device_mib": 16, "turnovers": 1, "steps": 2},
    "damon/masim": _PROGRAM,
    "damon/accuracy": _PROGRAM,
    "damon/overhead": {"seconds": 1, "mib": 4},
    "damon/schemes": {**_PROGRAM, "runs": 1},
    "damon/hotspot": {"mib": 16, "hot_kib": 64, "runs": 2, "windows": 20},
    "damon/hot-range": {"windows": 2},
    "vmalock/protocol": _BITS,
    "vmalock/omissions": _BITS,
    "vmalock/wrap": _BITS,
    "vmalock/contention": _MS,
    "vmalock/zerocopy": _MS,
    "vmalock/merge": _MS,
    "vmalock/launch": {"threads": 4, "pages": 4},
    "vmalock/fork": {"vmas": 10, "forks": 2},
    "gso/lastsegment": {"packets": 10},
    "fairzone/tiobench": {"mib": 512, "steps": 2},
    "fairzone/batches": {"mib": 512},
    "fairzone/inversion": {"mib": 512, "rates": 2, "turnovers": 1},
}
"""What costs time, made small: of these points one field at a time goes to its ends."""


def ends(field: Any) -> list[Any]:
    """Both ends of a field's range, or all of its choices, as they are typed."""
    kind = field.annotation
    if typing.get_origin(kind) is typing.Literal:
        return list(typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return [label(member) for member in kind]
    if kind is bool:
        return [False, True]
    if kind is str:
        return [*TEXTS, field.default]
    return list(bounds(field))


def choices(field: Any) -> list[Any]:
    """All values of a field that has few; none of a number or a text."""
    return ends(field) if field.annotation not in (int, float, str) else []


def bounds(field: Any) -> tuple[Any, Any]:
    """Least and largest number that a field takes, or would have to refuse."""
    given = {
        name: getattr(constraint, name)
        for constraint in field.metadata
        for name in ("ge", "gt", "le", "lt", "multiple_of")
        if hasattr(constraint, name)
    }
    whole = field.annotation is int
    step = given.get("multiple_of", 1 if whole else 1e-6)
    low = given["gt"] + step if "gt" in given else given.get("ge", -WIDE)
    high = given["lt"] - step if "lt" in given else given.get("le", WIDE)
    return (-(-low // step) * step, high // step * step) if whole else (low, high)


def one_at_a_time(name: str, model: type[Params]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The small point of an experiment with each field in turn at each of its ends."""
    base = SMALL.get(name, {})
    for field, declared in model.model_fields.items():
        for value in ends(declared):
            yield field, {**base, field: value}


def anywhere(name: str, model: type[Params]) -> st.SearchStrategy[dict[str, Any]]:
    """Points of the whole space, with some fields as they are in the small one."""
    base = SMALL.get(name, {})
    free = {
        field: st.one_of(
            st.just(base.get(field, ends(declared)[0] if field in base else declared.default)),
            _values(declared),
        )
        for field, declared in model.model_fields.items()
    }
    return st.fixed_dictionaries(free)


def _values(field: Any) -> st.SearchStrategy[Any]:
    if field.annotation not in (int, float):
        return st.sampled_from(ends(field))
    low, high = bounds(field)
    between = st.integers(low, high) if field.annotation is int else st.floats(low, high)
    return st.one_of(st.sampled_from([low, high]), between)


def recording(model: type[Params], read: set[str]) -> type[Params]:
    """A class like `model` that puts the names of the fields that are asked for into `read`.

    A dump asks for none: whether what is in it is read, only its effect can say.
    """

    def get(self: Params, name: str) -> Any:
        if name in model.model_fields:
            read.add(name)
        return super(made, self).__getattribute__(name)

    made = type(model)(model.__name__, (model,), {"__getattribute__": get, "__module__": __name__})
    return made
