"""Asserts that can check a sentence: they compare something that their page has computed.

A mark `<!-- assert: NAME -->` is worth what stands behind the name, see `lorelab.book.compared`. So

- the expression compares, or asks what is called (`<`, `.all()`, `not`, ...), and does not compare
  a thing with itself;
- one of its names comes, through the page's assignments, from a call of what the page imports: an
  experiment, a record, a table of the library. `assert True` and `found = 3; assert found == 3`
  check nothing;
- if the sentence speaks of *all, every, each of, none* or *always*, one of the asserts that it
  names looks at more than one value: `.all()`, `.max()`, `.tolist()`, a list, ... (*no* and *never*
  may be a single count of 0.)

Whether it is the right comparison, only a reader can say.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

OF_ALL_ROWS = re.compile(r"\b(?:(?<!at )all|every|each of|none|always)\b", re.IGNORECASE)
"""What a sentence says of more than one value."""
SPANS = {"all", "any", "max", "min", "sum", "mean", "equals", "tolist", "to_dict", "len", "set"}
SPANS |= {"sorted", "list", "dict", "idxmax", "idxmin", "value_counts", "nunique", "unique"}
SPANS |= {"is_monotonic_increasing", "is_monotonic_decreasing"}
SEVERAL = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp)


class Named(NamedTuple):
    """A named assert: whether it looks at more than one value, and why it can check nothing."""

    spans: bool
    why_not: str


def on_page(page: Path) -> dict[str, list[Named]]:
    """The asserts of a notebook by their messages."""
    cells = json.loads(page.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return of_source("\n".join(code))


def of_source(source: str) -> dict[str, list[Named]]:
    """The same of source text.

    Examples
    --------
    >>> of_source("import lorelab; runs = lorelab.runs(); assert runs < 3, 'few'")
    {'few': [Named(spans=False, why_not='')]}
    """
    tree = ast.parse(source)
    computed = _computed(tree)
    values = _values(tree)
    asserts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Constant):
            parts = [node.test, *(one for name in _names(node.test) for one in values[name])]
            nodes = [inner for part in parts for inner in ast.walk(part)]
            spans = any(isinstance(one, SEVERAL) or _word(one) in SPANS for one in nodes)
            name = " ".join(str(node.msg.value).split())
            asserts.setdefault(name, []).append(Named(spans, _why_not(node.test, nodes, computed)))
    return asserts


def wanting(name: str, asserts: Iterable[Named]) -> str:
    """Why none of the asserts of a name can check anything; "" if one can.

    Examples
    --------
    >>> wanting("three", [])
    "no assert 'three'"
    """
    whys = [one.why_not for one in asserts]
    return "" if "" in whys else f"assert {name!r} {whys[0]}" if whys else f"no assert {name!r}"


def _why_not(test: ast.expr, nodes: list[ast.AST], computed: set[str]) -> str:
    compared = [node for node in nodes if isinstance(node, ast.Compare)]
    tests = (ast.Call, ast.Not, ast.Attribute, ast.Subscript)
    if not compared and not any(isinstance(node, tests) for node in ast.walk(test)):
        return "compares nothing"
    if compared and all(_with_itself(node) for node in compared):
        return "compares a thing with itself"
    if not _names(test) & computed:
        return "looks at nothing that the page computes"
    return ""


def _with_itself(compare: ast.Compare) -> bool:
    return len({ast.dump(one) for one in (compare.left, *compare.comparators)}) == 1


def _computed(tree: ast.Module) -> set[str]:
    """Names that are imported or of functions, and those assigned from what these give."""
    known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    assigned = [pair for node in ast.walk(tree) for pair in _assigned(node)]
    while new := {name for names, sources in assigned if sources & known for name in names} - known:
        known |= new
    return known


def _values(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What each name is assigned."""
    values = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name in _names(target):
                    values[name].append(node.value)
    return values


def _assigned(node: ast.AST) -> list[tuple[set[str], set[str]]]:
    """The names that a statement sets, and those that their values come from."""
    if isinstance(node, ast.Assign):
        targets, values = node.targets, [node.value]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets, values = [node.target], [node.value or node.target]
    elif isinstance(node, ast.For | ast.comprehension):
        targets, values = [node.target], [node.iter]
    elif isinstance(node, ast.NamedExpr):
        targets, values = [node.target], [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        targets, values = [node.func.value], [*node.args, *(k.value for k in node.keywords)]
    else:
        return []
    return [(set().union(*map(_names, targets)), set().union(*map(_names, values), set()))]


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _word(node: ast.AST) -> str:
    """The name of a function or a method, where it is one."""
    return getattr(node, "attr", getattr(node, "id", "")) if _is_named(node) else ""


def _is_named(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Name)
