"""Mutations of one line each: comparisons, constants, dropped statements, exchanged values.

Libraries that mutate Python were tried against this code first. mutmut 3 leaves decorated functions
alone, which here are all that numba compiles. cosmic-ray has neither dropped statements nor
exchanged values, the two kinds that were seen to survive, and edits the tree that others work in.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import NamedTuple

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Mutation(NamedTuple):
    """A module that differs from the real one in one place."""

    function: str
    """The function or method of the module that this place is in."""
    compiled: bool
    """By numba."""
    line: int
    kind: str
    before: str
    after: str
    source: str


def mutations(source: str) -> Iterator[Mutation]:
    """Every mutation of a module's functions; its constants, types and docstrings stay.

    Parameters
    ----------
    source : str
        Of the module.
    """
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for top in tree.body:
        bodies = [top] if isinstance(top, functions) else getattr(top, "body", [])
        for function in (one for one in bodies if isinstance(one, functions)):
            name = f"{top.name}.{function.name}" if isinstance(top, ast.ClassDef) else function.name
            compiled = any(_name(one) in COMPILERS for one in function.decorator_list)
            for statement in _statements(function.body):
                for mutation in _of_statement(source, statement):
                    yield mutation._replace(function=name, compiled=compiled)


COMPILERS = ("njit", "outline", "forceinline", "inline_always", "successors", "invariant")
"""Decorators of the library for functions that numba compiles."""


def _name(decorator: ast.expr) -> str:
    return ast.unparse(decorator).split("(")[0].split(".")[-1]


def valid(mutation: Mutation) -> bool:
    """Whether it is Python: a slice in a tuple without brackets can't be written anew."""
    try:
        ast.parse(mutation.source)
    except SyntaxError:
        return False
    return True


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not docstring:
            yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))


def _of_statement(source: str, statement: ast.stmt) -> Iterator[Mutation]:
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Continue):
        yield _replaced(source, statement, "dropped", ast.Pass())
    # The head alone: what is inside a loop is a statement of its own.
    heads = [value for name, value in ast.iter_fields(statement) if name not in BLOCKS + TYPES]
    for node in (node for head in heads for node in _walk(head)):
        for kind, change in _changes(node):
            changed = copy.deepcopy(node)
            change(changed)
            if ast.unparse(changed) != ast.unparse(node):
                yield _replaced(source, node, kind, changed)


BLOCKS = ("body", "orelse", "finalbody", "handlers", "type_comment")
TYPES = ("annotation", "returns")


def _walk(head: object) -> Iterator[ast.expr]:
    if isinstance(head, list):
        for one in head:
            yield from _walk(one)
    # Before Python 3.12 the places of what is inside an f-string are wrong.
    elif isinstance(head, ast.AST) and not isinstance(head, ast.JoinedStr):
        if isinstance(head, ast.expr):
            yield head
        for name, value in ast.iter_fields(head):
            if name not in TYPES:
                yield from _walk(_in_any_order(head) if name == "comparators" else value)


def _in_any_order(node: ast.Compare) -> list[ast.expr]:
    # What `in` looks for in a tuple or list of names and constants, it finds in any order.
    member = isinstance(node.ops[0], ast.In | ast.NotIn)
    values = getattr(node.comparators[0], "elts", None)
    simple = values and all(isinstance(one, ast.Constant | ast.Name) for one in values)
    return values if member and simple else node.comparators


def _changes(node: ast.expr) -> Iterator[tuple[str, Callable[[ast.expr], None]]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield "comparison", lambda n: n.ops.__setitem__(0, COMPARED[type(n.ops[0])]())
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            yield "operator", lambda n: setattr(n, "op", COMPUTED[type(n.op)]())
        case ast.BoolOp():
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield "operator", lambda n: setattr(n, "op", other())
        case ast.Constant(value=bool()):
            yield "constant", lambda n: setattr(n, "value", not n.value)
        case ast.Constant(value=int()):
            yield "off by one", lambda n: setattr(n, "value", n.value + 1)
        case ast.Name(id="ZERO"):
            yield "off by one", lambda n: setattr(n, "id", "ONE")
        case ast.Name(id="ONE"):
            yield "off by one", lambda n: setattr(n, "id", "ZERO")
        case ast.Tuple(elts=[_, _, *_]) | ast.List(elts=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.elts)
        case ast.Call(func=ast.Name(id="max" | "min"), args=[_, _]):
            pass  # the same in any order
        case ast.Call(args=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.args)
        case ast.Dict(values=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.values)


def _exchange(values: list[ast.expr]) -> None:
    values[-1], values[-2] = values[-2], values[-1]


def _replaced(source: str, node: ast.expr | ast.stmt, kind: str, by: ast.AST) -> Mutation:
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1
    # Offsets of ast are in bytes.
    head = lines[first].encode()[: node.col_offset].decode()
    tail = lines[last].encode()[node.end_col_offset :].decode()
    text = ast.unparse(by)
    before = "".join(lines[first : last + 1]).strip()
    changed = f"{head}{text}{tail}"
    made = "".join([*lines[:first], changed, *lines[last + 1 :]])
    return Mutation("", False, node.lineno, kind, before, changed.strip(), made)
