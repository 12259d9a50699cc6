"""Tests that take long and that passed: until something changes that they rest on, they take turns.

`make passed` runs all tests and writes down in `passed.json`, of the files that boot a kernel or
took `SLOW` seconds, which passed whole, with a digest of what they rest on. Of such a file
`make test` runs a fifth a day, and one test at least, so that each guest program, switch, probe and
page still meets a kernel or a browser; of any other file it runs all. `make test-all` runs all.
"""

import ast
import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KEPT = "tests/passed.json"
SLOW = 8
"""Seconds."""
DESIGNS = sorted(path.parent.name for path in (ROOT / "lib/lorelab").glob("*/params.py"))
"""Those that the list of designs lacks as well: the guide's example, and one just laid out."""
BOOTS = {"laboratory", "patched"}
"""Fixtures of a test that boots; it has the marker `boots`."""
NOT_BOOTED = {"README.md", "book", "labextension", "new", "panel", "showing"}
"""What of the library no boot of a design rests on."""
ABOVE = {"pages", "panel", "recording", "thread"}
"""Rooms of a design that stand above its boots."""
WORDS = {"advice", "notes", "recipients"}
"""Of a kit, as are its messages and cover letters: words of mails, which no kernel runs."""
FILES = (
    *("CITATION.cff", "Makefile", "README.md", "environment.yml", "pyproject.toml"),
    "requirements.lock",
)
FOLDERS = (".ci", ".github", "bench", "book", "data", "lib", "mutants", "notebooks", "tests")
"""With these files, all that the project has."""


@cache
def boots(file: Path) -> bool:
    """Whether a test in a file boots, or a fixture."""
    if file.suffix != ".py":
        return False
    functions = [
        one for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)
    ]
    return any(not BOOTS.isdisjoint(arg.arg for arg in one.args.args) for one in functions)


def rests_on(file: str, root: Path = ROOT) -> str:
    """Digest of what a file of tests rests on.

    Of a design's: all that is not another design's. Of a design's that boots: less, for no page
    and no mail is booted. Of any other file, which may ask for any design: everything,
    and if it boots, the library and the kernels' folder.
    """
    parts = Path(file).parts
    design = parts[1] if parts[1] in DESIGNS else None
    booting = boots(root / file)
    return _all(design, booting, root) + _digest([root / file] if booting else [])


@cache
def _all(design: str | None, booting: bool, root: Path) -> str:
    if not booting:
        return _digest(_but(design, root))
    library = root / "lib/lorelab"
    files = [root / "requirements.lock", root / "tests/conftest.py"]
    if design is None:
        return _digest([library, root / "lib/kernel", *files], words=False)
    left = {*NOT_BOOTED, *DESIGNS}
    shared = [path for path in library.iterdir() if path.name not in left]
    rooms = [path for path in (library / design).iterdir() if path.name not in ABOVE]
    of_it = ["lib/kernel/common", f"lib/kernel/{design}", f"data/kernel/{design}"]
    helpers = (root / "tests" / design).rglob("*.py")
    paths = [*shared, *rooms, *helpers, *files, *(root / name for name in of_it)]
    return _digest(paths, words=False)


def _but(design: str | None, root: Path) -> list[Path]:
    """Everything; for a design without other designs and without the pages of all."""
    every = [root / name for name in FILES]
    every += [file for name in FOLDERS for file in (root / name).rglob("*") if file.is_file()]
    if design is None:
        return every
    others = {*DESIGNS} - {design}
    return [
        file
        for file in every
        if others.isdisjoint((*file.relative_to(root).parts, file.stem))
        and file.parent != root / "notebooks"
        and file.name != "README.md"
    ]


def _digest(paths: list[Path], words: bool = True) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and _counts(file) and (words or not _words(file)):
                digest.update(f"{file.name} {_of(file)}\n".encode())
    return digest.hexdigest()


@cache
def _of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _counts(file: Path) -> bool:
    made = {"__pycache__", ".ipynb_checkpoints"}
    return made.isdisjoint(file.parts) and file.name != Path(KEPT).name


def _words(file: Path) -> bool:
    return file.name in WORDS or file.suffix == ".message" or file.name.startswith("0000-")


def forget():
    """Read what tests rest on anew."""
    for one in (_all, _of, boots):
        one.cache_clear()


def passed(root: Path = ROOT) -> set[str]:
    """Files that passed, and rest on what they rested on then."""
    kept = root / KEPT
    have = json.loads(kept.read_text()) if kept.exists() else {}
    return {
        file
        for file, digest in have.items()
        if (root / file).exists() and digest == rests_on(file, root)
    }


def takes_turns(item, files: set[str]) -> bool:
    """Whether a test does: of a file that boots, what boots; of any other, each test."""
    file = file_of(item.nodeid)
    return file in files and (not boots(ROOT / file) or "boots" in item.keywords)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class Keep:
    """Writes down which files passed whole, of those that boot or took `SLOW` seconds.

    What was written down of files that were not run stays.
    """

    def __init__(self, root: Path = ROOT):
        self.root, self.before, self.seconds = root, {}, Counter()
        self.collected: set[str] = set()
        self.ended: set[str] = set()
        self.not_passed: set[str] = set()

    def pytest_collection_finish(self, session):
        self.collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.collected.update(ids)

    def pytest_runtest_logreport(self, report):
        file = file_of(report.nodeid)
        if not file.startswith("tests/"):
            return
        self.before.setdefault(file, rests_on(file, self.root))
        self.seconds[file] += report.duration
        if report.when == "teardown":  # of a process that died none comes
            self.ended.add(report.nodeid)
        if not report.passed:
            self.not_passed.add(file)

    def pytest_sessionfinish(self):
        forget()
        kept = self.root / KEPT
        have = json.loads(kept.read_text()) if kept.exists() else {}
        left = self.not_passed | set(map(file_of, self.collected - self.ended))
        for file, digest in self.before.items():
            have.pop(file, None)
            long = boots(self.root / file) or self.seconds[file] >= SLOW
            if long and file not in left and rests_on(file, self.root) == digest:
                have[file] = digest
        kept.write_text(json.dumps(have, indent=1, sort_keys=True) + "\n")
