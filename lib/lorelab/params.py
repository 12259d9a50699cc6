"""Parameters of experiments: pydantic models whose fields carry a unit and a range."""

import re
from enum import IntEnum
from functools import cache
from itertools import product
from types import CodeType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from lorelab.errors import BadInput

Half = Literal["model", "kernel"]


class Refusal(NamedTuple):
    """Values that no run takes together, written so that a page can ask it too (`lorelab.panel`).

    Expressions are Python's, of names of parameters, whole numbers, `+ - * // << >>`, comparisons,
    `and`, `or` and `not`.
    """

    when: str
    says: str
    """What is said then, with expressions in braces."""


BRACED = re.compile(r"{(.*?)}")


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, expression, "eval")


class Params(BaseModel):
    """Base of every experiment's parameters: unknown names are refused, values don't change."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    retired: ClassVar[frozenset[str]] = frozenset()
    """Names of what was a parameter once, and still is in records of that time."""
    refusals: ClassVar[tuple[Refusal, ...]] = ()
    """Values that do not go together; the first that applies is told of."""

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        values = dict(self)
        for when, says in self.refusals:
            if eval(_compiled(when), {}, values):
                said = BRACED.sub(lambda at: str(eval(_compiled(at[1]), {}, values)), says)
                raise ValueError(said)
        return self

    @classmethod
    def of_record(cls, stored: dict[str, Any]) -> Self:
        """Parameters as a record has them."""
        return cls.model_validate({k: v for k, v in stored.items() if k not in cls.retired})


def param(
    default: Any,
    help: str,
    unit: str = "",
    only: Half | None = None,
    machine: bool = False,
    **bounds: Any,
) -> Any:
    """Declare one parameter.

    Parameters
    ----------
    default : Any
        Value when the reader gives none.
    help : str
        What it means, in one line.
    unit : str
        Unit of the value; empty for a name, a switch or a pure number.
    only : str, optional
        The half that reads it, `model` or `kernel`. The other refuses another value than the
        default. What only the model reads tells no records apart.
    machine : bool
        It is part of the machine that is booted: runs that differ in it share no boot.
    **bounds
        pydantic's `ge`, `le`, `gt`, `lt`, `multiple_of`, ...

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages", ge=1, le=64)
    ...     cost_ns: int = param(100, "of a page", "ns", only="model")
    >>> Tiny(pages=2)
    Tiny(pages=2, cost_ns=100)
    """
    extra = {"unit": unit, "only": only, "machine": machine}
    return Field(default, description=help, json_schema_extra=extra, **bounds)


def only(model: type[Params], half: Half) -> set[str]:
    """Names of the parameters that this half alone reads.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     cost_ns: int = param(100, "of a page", "ns", only="model")
    >>> only(Tiny, "model")
    {'cost_ns'}
    """
    fields = model.model_fields.items()
    return {name for name, field in fields if field.json_schema_extra["only"] == half}


def machine_of(params: Params) -> tuple[Any, ...]:
    """What runs that can share a boot have in common: the values of fields of the machine.

    Examples
    --------
    >>> class Tiny(Params):
    ...     mib: int = param(64, "memory of the guest", "MiB", machine=True)
    ...     pages: int = param(8, "pages that are written", "pages")
    >>> machine_of(Tiny(pages=2))
    (64,)
    """
    fields = type(params).model_fields.items()
    return tuple(
        getattr(params, name) for name, field in fields if field.json_schema_extra["machine"]
    )


def without_effect(params: Params, half: Half) -> str | None:
    """Say which of `params` have values that `half` would not read, or None.

    A run with such a value would say of itself what was not so.

    Examples
    --------
    >>> class Tiny(Params):
    ...     cost_ns: int = param(100, "of a page", "ns", only="model")
    >>> without_effect(Tiny(cost_ns=90), "kernel")
    'cost_ns=90: only the model reads it'
    >>> without_effect(Tiny(cost_ns=90), "model") is None
    True
    """
    other: Half = "kernel" if half == "model" else "model"
    unread = only(type(params), other)
    values = params.model_dump(mode="json", exclude_defaults=True, include=unread)
    if not values:
        return None
    given = " ".join(f"{name}={format_value(value)}" for name, value in values.items())
    return f"{given}: only the {other} reads {'it' if len(values) == 1 else 'them'}"


def for_kernel(params: Params) -> Params:
    """What a kernel is asked for: the same, less the values that only the model reads.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     cost_ns: int = param(100, "of a page", "ns", only="model")
    >>> for_kernel(Tiny(pages=2, cost_ns=90))
    Tiny(pages=2, cost_ns=100)
    """
    fields = type(params).model_fields
    return params.model_copy(
        update={name: fields[name].default for name in only(type(params), "model")}
    )


def label(member: IntEnum) -> str:
    """Name of a variant as readers type it: `V6_12` is `v6.12`, `CHRIS_V3` is `chris-v3`.

    Examples
    --------
    >>> Variant = IntEnum("Variant", ["V6_12", "CHRIS_V3"])
    >>> [label(member) for member in Variant]
    ['v6.12', 'chris-v3']
    """
    name = member.name.lower()
    number = name[0] == "v" and name[1:].replace("_", "").isdigit()
    return name.replace("_", "." if number else "-")


def seeded(params: Params, seed: int) -> Params:
    """The same run with another seed, which wraps at 64 bits as a kernel's u64 does.

    Runs of several seeds count up from the one that is given, which may be the last there is.

    Examples
    --------
    >>> class Drawn(Params):
    ...     seed: int = param(2**64 - 1, "of what is drawn", ge=0, lt=2**64)
    >>> seeded(Drawn(), 2**64)
    Drawn(seed=0)
    """
    return params.model_copy(update={"seed": seed % 2**64})


def by_label(enum: type[IntEnum]) -> Any:
    """Type of a parameter that takes a variant by its label (see `label`).

    Examples
    --------
    >>> Variant = IntEnum("Variant", ["BASELINE", "V6_12"])
    >>> class Tiny(Params):
    ...     variant: by_label(Variant) = param(Variant.BASELINE, "which ran")
    >>> Tiny(variant="v6.12").variant.name
    'V6_12'
    """
    members = {label(member): member for member in enum}

    def read(value: Any) -> Any:
        if isinstance(value, enum):
            return value
        if value not in members:
            raise ValueError(f"takes one of {', '.join(members)}")
        return members[value]

    return Annotated[enum, BeforeValidator(read), PlainSerializer(label, return_type=str)]


class Listed(NamedTuple):
    """Says of a text that it is whole numbers with commas between them."""

    most: int
    limit: int
    """The largest; the smallest is 1."""

    def read(self, text: str) -> list[int] | None:
        """The numbers; None of another text.

        Examples
        --------
        >>> Listed(most=2, limit=9).read("4,1"), Listed(2, 9).read(""), Listed(2, 9).read("4,10")
        ([4, 1], [], None)
        """
        words = text.split(",") if text else []
        if len(words) > self.most or not all(re.fullmatch("[0-9]{1,15}", word) for word in words):
            return None
        numbers = [int(word) for word in words]
        return numbers if all(0 < number <= self.limit for number in numbers) else None


def listed(most: int, limit: int) -> Any:
    """Type of a parameter that takes up to `most` numbers from 1 to `limit`, as `1540,1600`.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: listed(most=2, limit=9) = param("", "that are dirty")
    >>> Tiny(pages="4,1").pages
    '4,1'
    """
    its = Listed(most, limit)

    def check(value: Any) -> Any:
        if its.read(str(value)) is None:
            raise ValueError(f"takes up to {most} numbers from 1 to {limit}, commas between them")
        return str(value)

    return Annotated[str, BeforeValidator(check), its]


def listed_of(field: Any) -> Listed | None:
    """What `listed` said of a field; None of another.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: listed(most=2, limit=9) = param("", "that are dirty")
    >>> listed_of(Tiny.model_fields["pages"])
    Listed(most=2, limit=9)
    """
    return next((one for one in field.metadata if isinstance(one, Listed)), None)


def parse(model: type[Params], values: dict[str, Any]) -> Params:
    """Check `values` against `model`.

    Raises
    ------
    BadInput
        Names each bad parameter, what it got and what it takes.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages", ge=1)
    >>> parse(Tiny, {"pages": "2"})
    Tiny(pages=2)
    >>> parse(Tiny, {"pages": "0"})
    Traceback (most recent call last):
    lorelab.errors.BadInput: pages=0: takes a value greater than or equal to 1 pages
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise BadInput("; ".join(_complaint(model, e) for e in error.errors())) from None


def _complaint(model: type[Params], error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown parameter {name}: takes {', '.join(model.model_fields)}"
    message = error["msg"].removeprefix("Value error, ")
    if not name:
        return message
    if message.startswith("Input should be "):
        unit = model.model_fields[name].json_schema_extra["unit"]
        requirement = message.removeprefix("Input should be ")
        a = "a value " if requirement.startswith(("greater", "less")) else ""
        message = f"takes {a}{requirement} {unit}".rstrip()
    return f"{name}={error['input']}: {message}"


def assignments(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read `name=value` strings of the command line into a dictionary.

    Examples
    --------
    >>> assignments(("pages=2", "variant=v6.12"))
    {'pages': '2', 'variant': 'v6.12'}
    """
    given = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadInput(f"-p {pair}: takes name=value")
        if name in given:
            raise BadInput(f"-p {pair}: {name} is given twice")
        given[name] = value
    return given


def combinations(model: type[Params], pairs: tuple[str, ...]) -> list[Params]:
    """Read `name=value` strings in which a name may come again, for each value it is to have.

    Raises
    ------
    BadInput
        A value is none that `model` takes, or two of a name are the same, however written.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     order: int = param(0, "of an allocation")
    >>> combinations(Tiny, ("pages=2", "pages=4", "order=1"))
    [Tiny(pages=2, order=1), Tiny(pages=4, order=1)]
    """
    values: dict[str, list[str]] = {}
    for pair in pairs:
        for name, value in assignments((pair,)).items():
            values.setdefault(name, []).append(value)
    found: list[Params] = []
    for chosen in product(*values.values()):
        given = parse(model, dict(zip(values, chosen, strict=True)))
        if given in found:
            raise BadInput(f"-p {to_cli(given, ' -p ')}: is given twice; give each value once")
        found.append(given)
    return found


def format_value(value: Any) -> str:
    """Print a default as a reader would type it.

    Examples
    --------
    >>> [format_value(value) for value in (True, 0.5, "")]
    ['true', '0.5', '""']
    """
    if isinstance(value, IntEnum):
        return label(value)
    return str(value).lower() if isinstance(value, bool) else str(value) or '""'


def to_cli(params: Params, between: str = ",") -> str:
    """Print what differs from the defaults, as `-p` takes it: `name=value,name=value`.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     fills: bool = param(False, "the device first")
    >>> to_cli(Tiny(pages=2, fills=True)), to_cli(Tiny())
    ('pages=2,fills=true', 'default')
    """
    values = params.model_dump(mode="json", exclude_defaults=True)
    return (
        between.join(f"{name}={format_value(value)}" for name, value in values.items()) or "default"
    )


def describe_range(field: Any) -> str:
    """Range or choices of a field, as one short text.

    Examples
    --------
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages", ge=1, le=64)
    >>> describe_range(Tiny.model_fields["pages"])
    '>= 1, <= 64'
    """
    if isinstance(field.annotation, type) and issubclass(field.annotation, IntEnum):
        return ", ".join(label(member) for member in field.annotation)
    if field.annotation is bool:
        return "true, false"
    bounds = {}
    for constraint in field.metadata:
        for bound in ("ge", "gt", "le", "lt", "multiple_of"):
            if hasattr(constraint, bound):
                bounds[bound] = getattr(constraint, bound)
    words = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "multiple_of": "multiple of"}
    return ", ".join(f"{words[bound]} {value}" for bound, value in bounds.items())
