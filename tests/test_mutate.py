"""The one-line mutations of `make mutants`."""

import ast

import pytest

from mutants.mutate import alike, constants, mutations, valid

SOURCE = '''LIMIT = 3
"""A constant of the module, which is left alone."""


def room(used, free):
    """Docstrings stay, too."""
    count = LIMIT - used
    if count >= free:
        return 0
    note(used, count)
    return f"{count + 1}"
'''


def changes(source=SOURCE, families=()):
    return {(one.kind, one.before, one.after) for one in mutations(source, families)}


def test_each_kind_of_change_is_made_once_a_place():
    assert changes() == {
        ("off by one", "LIMIT = 3", "LIMIT = 4"),
        ("off by one", "LIMIT = 3", "LIMIT = 2"),
        ("dropped", "count = LIMIT - used", "pass"),
        ("operator", "count = LIMIT - used", "count = LIMIT + used"),
        ("comparison", "if count >= free:", "if count > free:"),
        ("dropped", "return 0", "pass"),
        ("off by one", "return 0", "return 1"),
        ("dropped", "note(used, count)", "pass"),
        ("exchanged", "note(used, count)", "note(count, used)"),
        ("dropped", 'return f"{count + 1}"', "pass"),
    }


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("x = a < b <= c", "comparison", {"x = a <= b <= c", "x = a < b < c"}),
        ("x = a not in b", "comparison", {"x = a in b"}),
        ("x = 7", "off by one", {"x = 8", "x = 6"}),
        ("x = 2 * min(a + 1, b)", "cap", {"x = 2 * (a + 1)", "x = 2 * b"}),
        ("x = np.maximum(a, b)", "cap", {"x = a", "x = b"}),
        ("x = max(a, b, 3)", "cap", {"x = max(a, b)", "x = max(a, 3)", "x = max(b, 3)"}),
        ("x = max(a)", "cap", set()),
        ("if s.late:", "flag", {"if (not s.late):"}),
        ("while not s.late:", "flag", {"while (s.late):"}),
        ("if a < b:", "flag", set()),
        ("x = y if late else z", "flag", {"x = (y if not late else z)"}),
        (
            "x = a and b < c",
            "flag",
            {"x = a", "x = (b < c)", "x = (not a and b < c)"},
        ),
        ("x = any(a)", "fold", {"x = all(a)"}),
        ("x = a.sum()", "fold", {"x = a.max()"}),
        ("x = a.max(axis=1)", "fold", {"x = a.min(axis=1)"}),
        ("x = max(a)", "fold", {"x = min(a)"}),
        ("x = max(a, b)", "fold", set()),
        ("x += a", "sum", {"x = a"}),
        ("x[a] -= b", "sum", {"x[a] = b"}),
        ("x -= a", "operator", {"x += a"}),
        ("x = a / b", "operator", {"x = a * b"}),
        ("x = s[cpu, 1, n]", "index", {"x = s[0, 1, n]", "x = s[cpu, 1, 0]"}),
        ("s[cpu] = a[FIRST]", "index", {"s[0] = a[FIRST]"}),
        ("x = FREE + Variant.V2", "other", {"x = FULL + Variant.V2", "x = FREE + Variant.V3"}),
        ("if s.late and s.other:", "other", {"if s.early and s.other:"}),
        ("x = LONE", "other", set()),
    ],
)
def test_what_a_line_becomes(line, kind, after):
    """Of the kinds that bounds, caps, flags, folds, sums, variants and CPUs are mutated by."""
    families = [("FREE", "FULL", "GONE"), ("Variant.V2", "Variant.V3"), (".late", ".early")]
    code = f"from state import FREE, FULL, LONE\n@njit\ndef f(s):\n    {line}\n"
    code += "        pass\n" * line.endswith(":")
    made = [one.after for one in mutations(code, families) if one.kind == kind]
    assert sorted(made) == sorted(after)
    assert all(valid(one) for one in mutations(code, families))


def test_an_index_is_changed_in_compiled_code_alone():
    """A table's columns are named by variables, and 0 is none of them."""
    assert not {kind for kind, *_ in changes("def f(s, n):\n    return s[n]\n")} & {"index"}


def test_names_that_stand_for_each_other():
    """Numbers line after line, those of one assignment, members of an enum, flags of a table."""
    source = '''
PAGE = U(4096)
FREE = U(0)
FULL = FREE + ONE

ORDER = 9
"""Another one."""
NAMES = ("free", "full")
HEAD, TAIL = 1, 2

class Variant(IntEnum):
    """Docstring."""
    V2 = 2
    """Another."""
    V3 = 3

class Traits(NamedTuple):
    late: bool
    size: int
    early: bool = False
'''
    assert [family for family in alike(source) if len(family) > 1] == [
        ("HEAD", "TAIL"),
        ("Variant.V2", "Variant.V3"),
        (".late", ".early"),
        ("PAGE", "FREE", "FULL"),
    ]
    assert [name for name, _ in constants(ast.parse(source))] == ["PAGE", "FREE", "FULL", "ORDER"]


def test_what_can_change_nothing_is_left_alone():
    source = """
def room(free):
    kept: dict[str, int] = at((1, 2) if free in (A, B) else max(free, b))

    def inner(which: tuple[int, str]) -> tuple[str, int]:
        pass
"""
    made = {(kind, after.split(" = ")[-1]) for kind, _, after in changes(source)}
    assert made == {
        ("comparison", "at((1, 2) if free not in (A, B) else max(free, b))"),
        ("off by one", "at((2, 2) if free in (A, B) else max(free, b))"),
        ("off by one", "at((0, 2) if free in (A, B) else max(free, b))"),
        ("off by one", "at((1, 3) if free in (A, B) else max(free, b))"),
        ("off by one", "at((1, 1) if free in (A, B) else max(free, b))"),
        ("exchanged", "at((2, 1) if free in (A, B) else max(free, b))"),
        ("cap", "at((1, 2) if free in (A, B) else free)"),
        ("cap", "at((1, 2) if free in (A, B) else b)"),
    }


def test_a_name_that_the_module_lacks_is_put_nowhere():
    """It would be a NameError, which any test catches."""
    lines = "\ndef f(x):\n    return x + ONE\n"
    assert ("off by one", "return x + ONE", "return x + ZERO") not in changes(lines)
    assert ("off by one", "return x + ONE", "return x + ZERO") in changes(
        "from n import ZERO" + lines
    )


def test_what_numba_compiles_is_told():
    """Of methods and of functions, whatever the decorator takes."""
    sources = ("@njit", "@numba.njit(cache=True)", "@forceinline", "@cache", "@property", "")
    for decorator in sources:
        code = f"{decorator}\ndef f(x):\n    return x + 1\n"
        [compiled] = {one.compiled for one in mutations(code)}
        assert compiled == (decorator in sources[:3])


def test_a_mutation_differs_in_its_own_lines_alone():
    for one in mutations(SOURCE):
        assert valid(one)
        old, new = SOURCE.splitlines(), one.source.splitlines()
        assert [
            number
            for number, pair in enumerate(zip(old, new, strict=True), 1)
            if pair[0] != pair[1]
        ] == [one.line]
        assert ast.get_docstring(ast.parse(one.source).body[-1]) == "Docstrings stay, too."
