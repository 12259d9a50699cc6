"""The parameters of an experiment as the fields of a form."""

import ast
from collections.abc import Iterator
from enum import IntEnum
from itertools import combinations, product
from typing import Any

from lorelab.errors import BadInput
from lorelab.flat import Choices, words_of
from lorelab.params import BRACED, Params, format_value, label, listed_of, parse

BOUNDS = ("multiple_of", "le", "lt", "ge", "gt")
"""In the order in which pydantic complains of them."""


def fields(model: type[Params], start: Params, choices: Choices) -> list[dict[str, Any]]:
    """The form's fields.

    Parameters
    ----------
    model : type
    start : Params
        What the form shows first.
    choices : dict
        The values of parameters that are texts.

    Returns
    -------
    list of dict
        `name`, `help`, `unit`, `kind` (int, float, bool, choice or list), `default` and `start` as
        typed, `values` (pairs of what is typed and its number), `bounds` (name, number and what is
        said beyond it), of a list how many numbers it takes (`most`) and up to which (`limit`),
        `error` (what is said of a value that is no number, or no list).

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages", ge=1)
    >>> [field] = fields(Tiny, Tiny(), {})
    >>> field["name"], field["kind"], field["default"], field["bounds"]
    ('pages', 'int', '8', [('ge', '1', 'takes a value greater than or equal to 1 pages')])
    """
    first = start.model_dump(mode="json")
    rows = []
    for name, field in model.model_fields.items():
        one: dict[str, Any] = {
            "name": name,
            "help": field.description,
            "unit": field.json_schema_extra["unit"],
            "kind": _kind(field, name, choices),
            "default": format_value(field.default).replace('""', ""),
            "start": format_value(first[name]).replace('""', ""),
            "error": _said(model, name, "?") or _beyond(choices.get(name, ())),
        }
        if one["kind"] in ("int", "float"):
            one["bounds"] = list(_bounds(model, name, field))
        elif one["kind"] == "list":
            one |= listed_of(field)._asdict()
        else:
            one["values"] = _values(field, name, choices)
        rows.append(one)
    return rows


def _beyond(words: tuple[str, ...]) -> str:
    """What the page says of a text that the library may take."""
    if any(words):
        return f"a page takes one of {', '.join(filter(None, words))}; a command takes others"
    return "takes none: a page reads no files"


def refused(model: type[Params], choices: Choices) -> list[list[str]]:
    """Pairs of values that no run takes together: two names with their values, what is said.

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     refusals = [("dry and wet", "dry and wet")]
    ...     dry: bool = param(False, "no water")
    ...     wet: bool = param(False, "water")
    >>> refused(Tiny, {})
    [['dry', 'true', 'wet', 'true', 'dry and wet']]
    """
    finite = {
        name: [typed for typed, _ in _values(field, name, choices)]
        for name, field in model.model_fields.items()
        if _kind(field, name, choices) not in ("int", "float", "list")
    }
    pairs = []
    for one, other in combinations(finite, 2):
        for a, b in product(finite[one], finite[other]):
            if complaint := _complaint(model, {one: a, other: b}):
                pairs.append([one, a, other, b, complaint])
    return pairs


def rules(model: type[Params]) -> list[list[Any]]:
    """`Params.refusals`, each as a tree of its condition, and texts with trees between them.

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     refusals = [("dry and wet", "dry and wet")]
    ...     dry: bool = param(False, "no water")
    ...     wet: bool = param(False, "water")
    >>> rules(Tiny)
    [[['and', {'of': 'dry'}, {'of': 'wet'}], ['dry and wet']]]
    """
    rows = []
    for when, says in model.refusals:
        parts = BRACED.split(says)
        parts[1::2] = map(_tree, parts[1::2])
        rows.append([_tree(when), parts])
    return rows


OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
}


def _tree(expression: str | ast.expr) -> Any:
    """An expression as lists of an operator and its operands, numbers as texts, names by `of`."""
    node = ast.parse(expression, mode="eval").body if isinstance(expression, str) else expression
    match node:
        case ast.Constant(int(number)):
            return str(number)
        case ast.Name(name):
            return {"of": name}
        case ast.UnaryOp(op, operand):
            return [OPERATORS[type(op)], _tree(operand)]
        case ast.BinOp(left, op, right):
            return [OPERATORS[type(op)], _tree(left), _tree(right)]
        case ast.BoolOp(op, operands):
            return [OPERATORS[type(op)], *map(_tree, operands)]
        case ast.Compare(left, ops, others):
            pairs = zip([left, *others], ops, others, strict=False)
            return ["and", *([OPERATORS[type(op)], _tree(a), _tree(b)] for a, op, b in pairs)]
    raise ValueError(f"no page works out {ast.unparse(node)}")


def _kind(field: Any, name: str, choices: Choices) -> str:
    kind = field.annotation
    if kind is bool:
        return "bool"
    if listed_of(field):
        return "list"
    if words_of(field, name, choices) or (isinstance(kind, type) and issubclass(kind, IntEnum)):
        return "choice"
    return {int: "int", float: "float"}[kind]


def _values(field: Any, name: str, choices: Choices) -> list[tuple[str, int]]:
    if words := words_of(field, name, choices):
        return [(word, number) for number, word in enumerate(words)]
    if field.annotation is bool:
        return [("false", 0), ("true", 1)]
    return [(label(member), int(member)) for member in field.annotation]


def _bounds(model: type[Params], name: str, field: Any) -> Iterator[tuple[str, str, str]]:
    steps = [getattr(one, "multiple_of", None) for one in field.metadata]
    step = next((number for number in steps if number), 1)
    for bound in BOUNDS:
        for constraint in field.metadata:
            if (number := getattr(constraint, bound, None)) is not None:
                beyond = {"ge": number - step, "le": number + step, "gt": number, "lt": number}
                bad = beyond.get(bound, number / 2 if field.annotation is float else number + 1)
                yield bound, str(number), _said(model, name, bad)


def _said(model: type[Params], name: str, bad: Any) -> str:
    """What is said of a bad value, behind its name and itself."""
    return _complaint(model, {name: bad}).removeprefix(f"{name}={bad}: ")


def _complaint(model: type[Params], values: dict[str, Any]) -> str:
    try:
        parse(model, values)
    except BadInput as error:
        return str(error)
    return ""
