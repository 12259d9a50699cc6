"""A parameter and a variable are called what they are, not what happened to them."""

import ast
import json
import re
from pathlib import Path

import pytest

import lorelab
from lorelab.book.ledger import PAGES
from lorelab.new import cells

PACKAGE = Path(lorelab.__file__).parent
ROOMS = PACKAGE / "new" / "rooms"
PLACE = re.compile(r"\$\{?(\w+)\}?")
"""Of a word that `lorelab new` fills in."""
REFUSED = {"made", "wanted", "given", "found", "held", "told", "asked", "said"}
"""Participles that were names once: of a recipe, a request, params, counters, a report."""
WORDS = {
    "gso": {"told", "held"},  # of a send, see "Words" in lib/lorelab/README.md; parameters
    "damon": {"told"},  # a counter of the records of damon/hotspot
    "showing/benches.py": {"made"},  # a key of the files in data/bench
    "vmalock/model/operation.py": {"held"},  # a counter: how long a lock is held
    "vmalock/recording/report.py": {"held"},  # a lock
    "swap/model": {"found"},  # mm/swapfile.c's
}
KEPT_RESULTS = (
    *("damon/experiments/accuracy.py", "damon/workload/accuracy.py"),
    *("damon/workload/masim.py", "damon/workload/truth.py"),
    *("fairzone/experiments/tiobench.py", "fairzone/model/zones.py"),
    *("fairzone/recording/zoneinfo.py", "fairzone/workload/files.py"),
    *("fairzone/workload/machine.py", "gso/experiments/lifetimes.py"),
    *("gso/model/invariants.py", "gso/model/layout.py", "gso/model/lifetimes.py"),
    *("gso/panel/lifetimes.py", "gso/panel/traffic.py", "swap/experiments/allocator_test.py"),
    *("swap/params.py", "swap/workload/holes.py", "vmalock/experiments/protocol.py"),
    *("vmalock/model/protocol/configurations.py", "vmalock/model/protocol/steps.py"),
    *("vmalock/model/protocol/writers.py", "vmalock/model/tally.py"),
    *("vmalock/panel/contention.py", "vmalock/panel/protocol.py"),
    *("params.py", "panel/compile.py", "panel/kept.py"),
)
"""Kept points of data/sensitivity and modules of data/panels rest on the text of these; a variable
there is renamed when they change for another reason."""


def parameters(tree):
    """Line and name of each parameter of each function, whether it is public or not."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    for function in (node for node in ast.walk(tree) if isinstance(node, functions)):
        for one in (node for node in ast.walk(function.args) if isinstance(node, ast.arg)):
            yield one.lineno, one.arg


def variables(tree):
    """Line and name of what is assigned, by a loop or a `with` as well; functions, classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_no_parameter_is_a_participle(room):
    assert refused(PACKAGE / room, parameters) == []


def test_nor_is_one_of_a_file_that_all_share():
    assert refused(PACKAGE, parameters, "*.py") == []


def test_nor_is_a_variable():
    rest = [line for line in refused(PACKAGE, variables) if not line.startswith(KEPT_RESULTS)]
    assert [line for line in rest if not stays(*line.split())] == []


def refused_on(page):
    """By number of the cell. Parameters are left out: they are fields, which users name."""
    return [
        (number, name)
        for number, cell in enumerate(page["cells"])
        if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", [])
        for name in refused_in("".join(cell["source"]))
    ]


def refused_in(code):
    tree = ast.parse(code)
    names = (name for _, name in (*parameters(tree), *variables(tree)))
    return [name for name in names if name.lower() in REFUSED]


def test_nor_is_one_of_a_page():
    pages = {page: refused_on(json.loads(page.read_text())) for page in PAGES.rglob("*.ipynb")}
    assert {page.name for page in pages} > {"start.ipynb", "kernel.ipynb"}
    assert {str(page.relative_to(PAGES)): lines for page, lines in pages.items() if lines} == {}


def test_nor_is_one_that_lorelab_new_lays_out():
    lines = {}
    for file in sorted(ROOMS.rglob("*.in")):
        text = PLACE.sub(r"\1", file.read_text())
        if file.name.endswith(".cells.in"):
            lines[file.name] = refused_on(json.loads(cells.notebook(text)))
        elif file.name.endswith(".py.in"):
            lines[file.name] = refused_in(text)
    assert {"kernel.cells.in", "resident.py.in"} < lines.keys()
    assert {name: each for name, each in lines.items() if each} == {}


def test_every_exemption_is_needed():
    lines = refused(PACKAGE, variables)
    rests = [file for file in KEPT_RESULTS if not any(line.startswith(file) for line in lines)]
    assert rests == []


def stays(place, name):
    words = (names for where, names in WORDS.items() if place.startswith(where))
    return any(name.lower() in names for names in words)


def refused(folder, names, files="**/*.py"):
    return [
        f"{file.relative_to(PACKAGE)}:{line} {name}"
        for file in sorted(folder.glob(files))
        for line, name in names(ast.parse(file.read_text()))
        if name.lower() in REFUSED
    ]


@pytest.mark.parametrize("code", ["def f(found): ...", "def f(**given): ...", "lambda told: told"])
def test_a_participle_is_noticed(code):
    assert [name for _, name in parameters(ast.parse(code)) if name in REFUSED]


@pytest.mark.parametrize(
    "code",
    ["found = 1", "HELD = 1", "for said in f(): ...", "def said(): ...", "class Told: ..."],
)
def test_so_is_one_of_a_variable(code):
    assert [name for _, name in variables(ast.parse(code)) if name.lower() in REFUSED]
