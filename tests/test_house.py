"""Who may import whom: the laboratory no design, no design another, a model no laboratory."""

import ast
import re
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from lorelab.experiments import designs, experiments
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import cache
from tests.turns import DESIGNS

PACKAGE = Path(__file__).parents[1] / "lib" / "lorelab"
LINES = 450
SHARED = {path.stem for path in PACKAGE.glob("*.py")} | {
    path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name not in DESIGNS
}


def imported(folder, to_run=False):
    """Modules that the files of a folder import, and the file that does; or those `to_run` alone,
    without what only names the types of arguments."""
    for file in folder.rglob("*.py") if folder.is_dir() else [folder]:
        tree = ast.parse(file.read_text())
        for_types = {
            inner
            for node in ast.walk(tree)
            if to_run and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in set(ast.walk(tree)) - for_types:
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file} imports relatively"
                yield node.module, file
                for alias in node.names:
                    yield f"{node.module}.{alias.name}", file
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, file


def named(module):
    """First word of a module of lorelab, below `lorelab` itself."""
    return module.split(".")[1] if module.startswith("lorelab.") else None


def test_the_laboratory_knows_no_design_and_no_registry():
    for module, file in imported(PACKAGE / "lab"):
        above = {*DESIGNS, "experiments", "judging", "showing"}
        assert named(module) not in above, f"{file}: {module}"


def test_what_all_share_knows_no_design():
    for name in SHARED - {"book"}:
        path = PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
        for module, file in imported(path):
            assert named(module) not in DESIGNS, f"{file}: {module}"


def test_what_all_share_has_an_order():
    """No import circle of rooms, wherever in a file they are imported: each can be read after those
    that it needs.

    `cli` is above all: a command that shows what another one gives asks it for that.
    """
    needs = defaultdict(set)
    for name in SHARED - {"cli"}:
        path = PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
        for module, _ in imported(path, to_run=True):
            if (other := named(module)) in SHARED - {"cli", name}:
                needs[name].add(other)
    list(TopologicalSorter(needs).static_order())


@pytest.mark.parametrize("design", DESIGNS)
def test_the_rooms_of_a_design_have_an_order(design):
    """No import circle of its folders and files, wherever in a file they are imported, and be it
    for types alone."""
    needs = defaultdict(set)
    for path in (PACKAGE / design).iterdir():
        if path.suffix == ".py" or path.is_dir():
            for module, _ in imported(path):
                below = module.removeprefix(f"lorelab.{design}.").split(".")[0]
                if module.startswith(f"lorelab.{design}.") and below != path.stem:
                    needs[path.stem].add(below)
    assert len(needs) > 2  # a design that was just laid out has three
    list(TopologicalSorter(needs).static_order())


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_imports_no_other_and_no_book(design):
    for module, file in imported(PACKAGE / design):
        assert named(module) not in {*DESIGNS, "book"} - {design}, f"{file}: {module}"


@pytest.mark.parametrize("design", designs())
def test_questions_are_all_that_is_in_experiments(design):
    names = {name.partition("/")[2].replace("-", "_") for name in experiments(design)}
    files = {file.stem for file in (PACKAGE / design / "experiments").glob("*.py")}
    assert files - {"__init__"} <= names


def unreached(file, name):
    """Names that a file defines and that the function called `name` does not need."""
    definitions = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for one in ast.walk(target):
                    if isinstance(one, ast.Name):
                        definitions[one.id] = node
    needed, ahead = set(), {name}
    while ahead:
        needed |= ahead
        names = {
            node.id
            for one in ahead
            for node in ast.walk(definitions[one])
            if isinstance(node, ast.Name)
        }
        ahead = (names & definitions.keys()) - needed
    return definitions.keys() - needed


@pytest.mark.parametrize("design", DESIGNS)
def test_a_question_is_all_that_a_file_in_experiments_has(design):
    """What `simulate` needs. Tables and comparisons that pages show are in pages/."""
    for file in (PACKAGE / design / "experiments").glob("*.py"):
        if file.stem != "__init__":
            assert not unreached(file, "simulate"), file


@pytest.mark.parametrize("design", designs())
def test_the_readme_says_what_is_no_question_among_them(design):
    """In kernel/, agree/ and panel/ a file is a question of its name, or the README has it."""
    names = {name.partition("/")[2].replace("-", "_") for name in experiments(design)}
    rows = (PACKAGE / "README.md").read_text().splitlines()
    for room in ("kernel", "agree", "panel"):
        [row] = [row for row in rows if row.startswith(f"| `{room}/` | one file a question")]
        for file in (PACKAGE / design / room).glob("*.py"):
            known = file.stem in names or f"`{file.name}`" in row or file.name == "__init__.py"
            assert known, file


@pytest.mark.parametrize("design", DESIGNS)
def test_a_model_is_compiled_code_alone(design):
    for module, file in imported(PACKAGE / design / "model"):
        assert module.split(".")[0] not in {"pandas", "altair"}, f"{file}: {module}"
        assert named(module) not in {"lab", "showing", "book"}, f"{file}: {module}"
        assert not module.startswith(f"lorelab.{design}.pages"), file


@pytest.mark.parametrize("design", DESIGNS)
def test_what_drives_or_measures_needs_no_question(design):
    """Plans, and names and units of counters, that a model and a kernel share are in workload/."""
    for room in ("model", "workload", "kernel"):
        for module, file in imported(PACKAGE / design / room):
            assert not module.startswith(f"lorelab.{design}.experiments"), f"{file}: {module}"


@pytest.mark.parametrize("design", DESIGNS)
def test_what_drives_a_model_stands_above_it(design):
    for module, file in imported(PACKAGE / design / "model"):
        below = tuple(f"lorelab.{design}.{name}" for name in ("model", "params"))
        assert named(module) != design or module.startswith(below), f"{file}: {module}"


@pytest.mark.parametrize("design", DESIGNS)
def test_what_drives_is_shared(design):
    """By both halves, or by several questions: what one file alone needs stands there."""
    needs = defaultdict(set)
    for module, file in imported(PACKAGE / design):
        needs[module].add(file)
    for file in (PACKAGE / design / "workload").glob("*.py"):
        if file.stem != "__init__":
            assert len(needs[f"lorelab.{design}.workload.{file.stem}"] - {file}) > 1, file


def test_what_is_sent_is_no_part_of_a_judgement():
    """Mails of a finding are for its command and its page; what ran of them is asked by all."""
    for room in [PACKAGE / name for name in (*DESIGNS, "judging")]:
        for module, file in imported(room):
            if file.stem not in {"commands", "kunit", "reproduced", "upstream"}:
                assert not module.startswith("lorelab.judging.upstream"), file


@pytest.mark.parametrize("design", DESIGNS)
def test_what_measures_has_the_names_of_a_model_and_calls_none_of_it(design):
    """Names of counters and events, and types of rows: no function, nor a module with all of it."""
    for module, file in imported(PACKAGE / design / "kernel"):
        assert module != f"lorelab.{design}.model", file
        home, _, name = module.rpartition(".")
        if home.startswith(f"lorelab.{design}.model."):
            value = getattr(import_module(home), name)
            assert isinstance(value, type) or not callable(value), f"{file}: {module}"


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_shown_and_judged_stands_above_what_runs(design):
    for room in ("model", "workload", "experiments", "kernel"):
        for module, file in imported(PACKAGE / design / room):
            above = tuple(f"lorelab.{design}.{name}" for name in ("agree", "thread", "pages"))
            assert not module.startswith(above), f"{file}: {module}"


@pytest.mark.parametrize("design", DESIGNS)
def test_charts_are_drawn_for_pages_alone(design):
    """And for panels, which are on pages."""
    for path in (PACKAGE / design).iterdir():
        if path.name not in {"pages", "panel"}:
            for module, file in imported(path):
                assert module.split(".")[0] != "altair", file


@pytest.mark.parametrize("design", DESIGNS)
def test_what_the_browser_answers_is_asked_for_in_panels_alone(design):
    """The room `panel` shows a model in a page, so no model, program or question rests on it."""
    for path in (PACKAGE / design).iterdir():
        if path.name != "panel":
            for module, file in imported(path):
                assert named(module) != "panel", file


@pytest.mark.parametrize("design", DESIGNS)
def test_what_a_thread_rests_on_asks_no_registry_for_it(design):
    """`judging.findings` and `claims` import a design's thread/ by its name."""
    for path in (PACKAGE / design).iterdir():
        if path.name not in {"thread", "panel", "commands.py"}:
            for module, file in imported(path):
                registries = ("lorelab.judging.findings", "lorelab.judging.claims")
                assert not module.startswith(registries), f"{file}: {module}"


def test_every_room_of_a_kernel_is_a_designs():
    assert set(cache.designs()) <= set(DESIGNS)
    assert set(designs()) <= set(DESIGNS)


def test_no_shared_module_has_a_name_of_the_standard_library():
    """A Python that is started in this folder would import it in the place of that."""
    assert not SHARED & sys.stdlib_module_names


def test_no_shared_module_names_a_field_of_a_design():
    """Of fields whose names no other thing has by chance: those of two words."""
    fields = {
        field for one in experiments().values() for field in one.Params.model_fields if "_" in field
    }
    assert len(fields) > 50
    shared = [folder for folder in PACKAGE.iterdir() if folder.name not in DESIGNS]
    for folder in [*shared, cache.KERNEL_FILES / "common"]:
        for file in folder.rglob("*.py") if folder.is_dir() else [folder]:
            if file.suffix == ".py":
                assert fields.isdisjoint(re.findall(r"\w+", file.read_text())), file


def test_no_file_is_longer_than_one_sitting():
    """Of more than one is read a part, and the part that matters is in the other."""
    long = {
        str(file.relative_to(PACKAGE)): lines
        for file in PACKAGE.rglob("*.py")
        if (lines := len(file.read_text().splitlines())) > LINES
    }
    assert not long


def test_the_readme_says_what_everything_at_the_top_is():
    names = {path.name for path in PACKAGE.iterdir()} - {*designs(), "README.md", "__init__.py"}
    text = (PACKAGE / "README.md").read_text()
    assert not [name for name in names - {"__pycache__"} if not re.search(rf"`{name}/?`", text)]


@pytest.mark.parametrize("room", ["book", "judging", "lab", "new", "panel", "running", "showing"])
def test_the_readme_says_what_a_shared_room_has(room):
    rows = (PACKAGE / "README.md").read_text().partition("## What all share")[2].splitlines()
    [row] = [row for row in rows if row.startswith(f"| `{room}/` |")]
    names = {path.stem for path in (PACKAGE / room).iterdir() if path.suffix in {"", ".py"}}
    names -= {"__init__", "__main__", "__pycache__", "commands"}
    assert not [name for name in names if not re.search(rf"`{name}/?`", row)]


def listed_rooms():
    """Rooms that the README lists, and those of them that a design may lack."""
    text = (PACKAGE / "README.md").read_text()
    [lead] = re.findall(r"them all; (.*?) are there where", text, re.DOTALL)
    rooms = text.partition("## What all share")[0]
    listed = re.findall(r"^\| `([\w.]+/?)` \|", rooms, re.MULTILINE)
    return listed, set(re.findall(r"`([^`]+)`", lead))


def test_the_readme_says_which_rooms_a_design_may_lack():
    """Every room that it lists is in each design, and in the example, but for these."""
    listed, may_lack = listed_rooms()
    for design in DESIGNS:
        lacking = {name for name in listed if not (PACKAGE / design / name).exists()}
        assert lacking <= may_lack, design
    assert all(any(not (PACKAGE / d / n).exists() for d in DESIGNS) for n in may_lack)


@pytest.mark.parametrize("name", ["README.md", "lib/lorelab/README.md", "lib/lorelab/cli.py"])
def test_who_names_verdicts_names_all(name):
    text = " ".join((PACKAGE.parents[1] / name).read_text().split())
    named = re.findall(r"passed,[ \w,]+", text)
    assert named and all(str(verdict) in one for one in named for verdict in AgreementVerdict)
