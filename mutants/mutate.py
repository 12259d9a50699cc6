"""Mutations of one line each: bounds, constants, caps, flags, sums, names, dropped statements.

Libraries that mutate Python were tried against this code first. mutmut 3 leaves decorated functions
alone, which here are all that numba compiles. cosmic-ray has neither dropped statements nor
exchanged values, the two kinds that were seen to survive, and edits the tree that others work in.
"""

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
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
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
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
    ast.Div: ast.Mult,
}
FOLDED = {"any": "all", "all": "any", "sum": "max", "max": "min", "min": "max"}
"""Functions and methods that make one value of many."""
CAPS = ("min", "max", "minimum", "maximum")

KINDS = (
    *("comparison", "off by one", "cap", "constant", "flag", "fold", "sum", "operator"),
    *("other", "index", "exchanged", "dropped"),
)
"""The kinds of mutations, those first that tests were seen to miss. A constant is True or False,
a flag is a condition without a comparison, or an operand of `and` and `or`; other is another
constant of its group, member of its enum, or trait; an index becomes 0."""


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


def mutations(source: str, families: Iterable[tuple[str, ...]] = ()) -> Iterator[Mutation]:
    """Every mutation of a module's functions and of its numbers; types and docstrings stay.

    Parameters
    ----------
    source : str
        Of the module.
    families : iterable of tuples
        Names that stand for each other, as `alike` finds them.
    """
    tree = ast.parse(source)
    names = _names(tree)
    others = {}
    for family in families:
        known = [name for name in family if not name.isupper() or name in names]
        others |= dict(zip(known, known[1:] + known[:1], strict=True))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for top in tree.body:
        bodies = [top] if isinstance(top, functions) else getattr(top, "body", [])
        for function in (one for one in bodies if isinstance(one, functions)):
            name = f"{top.name}.{function.name}" if isinstance(top, ast.ClassDef) else function.name
            compiled = _compiled(function)
            for statement in _statements(function.body):
                for mutation in _of_statement(source, statement, others, names, compiled):
                    yield mutation._replace(function=name, compiled=compiled)
    compiled = any(_compiled(one) for one in ast.walk(tree) if isinstance(one, functions))
    for name, value in constants(tree):
        for mutation in _of_number(source, value):
            yield mutation._replace(function=name, compiled=compiled)


def constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Numbers that a module names, and what each is."""
    for one in tree.body:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
                if all(isinstance(part, NUMBER) for part in ast.walk(value)):
                    yield name, value


NUMBER = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.operator, ast.Load)
"""What a number is made of."""


def alike(source: str) -> Iterator[tuple[str, ...]]:
    """Families of a module: numbers named line after line, an enum's members, a table's flags.

    Members are ENUM.MEMBER, flags .FLAG.
    """
    tree = ast.parse(source)
    group, last = [], 0
    for one in tree.body:
        match one:
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                yield tuple(name.id for name in names if isinstance(name, ast.Name))
            case ast.ClassDef(bases=[ast.Name(id="IntEnum" | "Enum" | "StrEnum")]):
                made = (ast.unparse(each.targets[0]) for each in one.body if _is_assigned(each))
                yield tuple(f"{one.name}.{member}" for member in made)
            case ast.ClassDef(bases=[ast.Name(id="NamedTuple")]):
                typed = (each for each in one.body if isinstance(each, ast.AnnAssign))
                flags = (each for each in typed if ast.unparse(each.annotation) == "bool")
                yield tuple(f".{each.target.id}" for each in flags)
    for name, value in constants(tree):
        if value.lineno > last + 1:
            yield tuple(group)
            group = []
        group.append(name)
        last = value.end_lineno
    yield tuple(group)


def _is_assigned(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign)


def _names(tree: ast.Module) -> set[str]:
    # That a function of the module can use.
    bound = {one.asname or one.name for one in ast.walk(tree) if isinstance(one, ast.alias)}
    return bound | {one.id for one in ast.walk(tree) if _is_bound(one)}


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _compiled(function: ast.FunctionDef) -> bool:
    return any(_name(one) in COMPILERS for one in function.decorator_list)


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


def _of_statement(
    source: str, statement: ast.stmt, others: dict[str, str], names: set[str], compiled: bool
) -> Iterator[Mutation]:
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Continue):
        yield _replaced(source, statement, "dropped", ast.Pass())
    if isinstance(statement, ast.AugAssign):
        alone = ast.Assign([statement.target], statement.value, lineno=statement.lineno)
        yield _replaced(source, statement, "sum", alone)
        if type(statement.op) in COMPUTED:
            changed = copy.deepcopy(statement)
            changed.op = COMPUTED[type(statement.op)]()
            yield _replaced(source, statement, "operator", changed)
    if isinstance(statement, ast.If | ast.While) and _is_flag(statement.test):
        yield _replaced(source, statement.test, "flag", _negated(statement.test))
    # The head alone: what is inside a loop is a statement of its own.
    heads = [value for name, value in ast.iter_fields(statement) if name not in BLOCKS + TYPES]
    for node in (node for head in heads for node in _walk(head)):
        changes = chain(_changes(node, names), _shortened(node), _others(node, others))
        for kind, change in chain(changes, _indices(node) if compiled else ()):
            changed = copy.deepcopy(node)
            changed = change(changed) or changed
            if ast.unparse(changed) != ast.unparse(node):
                yield _replaced(source, node, kind, changed)


def _of_number(source: str, value: ast.expr) -> Iterator[Mutation]:
    for node in _walk(value):
        for kind, change in _changes(node, set()):
            if kind in ("off by one", "operator"):
                changed = copy.deepcopy(node)
                change(changed)
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


Change = Callable[[ast.expr], ast.expr | None]
"""Changes a node, or gives what stands in its place."""


def _changes(node: ast.expr, names: set[str]) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                if type(op) in COMPARED:
                    yield "comparison", partial(_set, i, COMPARED[type(op)]())
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            yield "operator", lambda n: setattr(n, "op", COMPUTED[type(n.op)]())
        case ast.BoolOp():
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield "operator", lambda n: setattr(n, "op", other())
        case ast.Constant(value=bool()):
            yield "constant", lambda n: setattr(n, "value", not n.value)
        case ast.Constant(value=int()):
            yield "off by one", lambda n: setattr(n, "value", n.value + 1)
            if node.value > 0:
                yield "off by one", lambda n: setattr(n, "value", n.value - 1)
        case ast.Name(id="ZERO") if "ONE" in names:
            yield "off by one", lambda n: setattr(n, "id", "ONE")
        case ast.Name(id="ONE") if "ZERO" in names:
            yield "off by one", lambda n: setattr(n, "id", "ZERO")
        case ast.Tuple(elts=[_, _, *_]) | ast.List(elts=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.elts)
        case ast.Call(func=ast.Name(id="max" | "min"), args=[_, _]):
            pass  # the same in any order
        case ast.Call(args=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.args)
        case ast.Dict(values=[_, _, *_]):
            yield "exchanged", lambda n: _exchange(n.values)


def _set(i: int, op: ast.cmpop, node: ast.Compare) -> None:
    node.ops[i] = op


def _shortened(node: ast.expr) -> Iterator[tuple[str, Change]]:
    # Caps, folds, and conditions that are not compared.
    match node:
        case ast.Call(func=function, args=[_, _, *_] as all_of) if _last(function) in CAPS:
            for i in range(len(all_of)):
                yield "cap", partial(_without, i)
        case ast.Call(func=ast.Name(id=name), args=[_]) if name in FOLDED:
            yield "fold", lambda n: setattr(n.func, "id", FOLDED[name])
        case ast.Call(func=ast.Attribute(attr=name), args=[] | [_]) if name in FOLDED:
            yield "fold", lambda n: setattr(n.func, "attr", FOLDED[name])
        case ast.BoolOp(values=values):
            for i, value in enumerate(values):
                yield "flag", partial(_without, i)
                if _is_flag(value):
                    yield "flag", partial(_with_negated, i)
        case ast.IfExp(test=test) if _is_flag(test):
            yield "flag", lambda n: setattr(n, "test", _negated(n.test))


def _last(function: ast.expr) -> str:
    return ast.unparse(function).split(".")[-1]


def _without(i: int, node: ast.Call | ast.BoolOp) -> ast.expr | None:
    values = node.values if isinstance(node, ast.BoolOp) else node.args
    del values[i]
    return values[0] if len(values) == 1 else None


def _with_negated(i: int, node: ast.BoolOp) -> None:
    node.values[i] = _negated(node.values[i])


def _is_flag(test: ast.expr) -> bool:
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return negated or isinstance(test, ast.Name | ast.Attribute | ast.Subscript | ast.Call)


def _negated(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) else ast.UnaryOp(ast.Not(), test)


def _others(node: ast.expr, others: dict[str, str]) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in others:
            yield "other", lambda n: setattr(n, "id", others[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if ast.unparse(node) in others:
            yield "other", lambda n: setattr(n, "attr", others[ast.unparse(n)].split(".")[-1])
        case ast.Attribute(attr=name, ctx=ast.Load()) if f".{name}" in others:
            yield "other", lambda n: setattr(n, "attr", others[f".{name}"][1:])


def _indices(node: ast.expr) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Subscript(slice=ast.Name(id=name)) if not name.isupper():
            yield "index", lambda n: setattr(n, "slice", ast.Constant(0))
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            for i, part in enumerate(parts):
                if isinstance(part, ast.Name) and not part.id.isupper():
                    yield "index", partial(_zero, i)


def _zero(i: int, node: ast.Subscript) -> None:
    node.slice.elts[i] = ast.Constant(0)


def _exchange(values: list[ast.expr]) -> None:
    values[-1], values[-2] = values[-2], values[-1]


def _replaced(source: str, node: ast.expr | ast.stmt, kind: str, by: ast.AST) -> Mutation:
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1
    # Offsets of ast are in bytes.
    head = lines[first].encode()[: node.col_offset].decode()
    tail = lines[last].encode()[node.end_col_offset :].decode()
    text = ast.unparse(by)
    if kind in ("cap", "flag") and not isinstance(by, ast.Name | ast.Call):
        text = f"({text})"
    before = "".join(lines[first : last + 1]).strip()
    changed = f"{head}{text}{tail}"
    made = "".join([*lines[:first], changed, *lines[last + 1 :]])
    return Mutation("", False, node.lineno, kind, before, changed.strip(), made)
