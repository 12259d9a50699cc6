"""Tests that boot and that passed: until something changes that they rest on, they take turns.

A boot in emulation takes longer than all else that a test does. `make boots` runs every test that
boots and writes down in `booted.json` which files passed whole, with a digest of what they rest on.
Of such a file `make test` runs a fifth a day, and one test at least, so that each guest program,
switch and probe still meets a kernel; of any other file it runs all. `make test-all` runs all.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = "tests/booted.json"
DESIGNS = tuple((ROOT / "lib/lorelab/designs").read_text().split())
OTHERS = {"README.md", "book", "labextension", "new", "panel", "showing"}
"""What of the library no boot of a design rests on."""
ABOVE = {"pages", "panel", "recording", "thread"}
"""Rooms of a design that stand above its boots."""
SHARED = ("requirements.lock", "tests/conftest.py")
WORDS = {"advice", "notes", "recipients"}
"""Of a kit, as are its messages and cover letters: words of mails, which no kernel runs."""


def rests_on(file: str, root: Path = ROOT) -> str:
    """Digest of what a file of tests rests on: if a design's, of it and what all designs share.

    Tests of no design may boot any of them, and rest on all.
    """
    parts = Path(file).parts
    design = parts[1] if parts[1] in (*DESIGNS, "faultaround") else None
    return _all(design, root) + _digest([root / file])


@cache
def _all(design: str | None, root: Path) -> str:
    library = root / "lib/lorelab"
    if design is None:
        return _digest([library, root / "lib/kernel", *(root / name for name in SHARED)])
    left = OTHERS | {*DESIGNS, "faultaround"}
    shared = [path for path in library.iterdir() if path.name not in left]
    rooms = [path for path in (library / design).iterdir() if path.name not in ABOVE]
    of_it = ["lib/kernel/common", f"lib/kernel/{design}", f"data/kernel/{design}"]
    helpers = (root / "tests" / design).glob("*.py")
    return _digest([*shared, *rooms, *helpers, *(root / name for name in (*SHARED, *of_it))])


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts and not _words(file):
                digest.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _words(file: Path) -> bool:
    return file.name in WORDS or file.suffix == ".message" or file.name.startswith("0000-")


def passed(root: Path = ROOT) -> set[str]:
    """Files that passed, and rest on what they rested on then."""
    kept = root / KEPT
    have = json.loads(kept.read_text()) if kept.exists() else {}
    return {
        file
        for file, digest in have.items()
        if (root / file).exists() and digest == rests_on(file, root)
    }


class Keep:
    """Writes down which files passed whole, when all tests that boot were run."""

    def __init__(self, root: Path = ROOT):
        self.root, self.before, self.passed = root, {}, {}

    def pytest_runtest_logreport(self, report):
        if "boots" not in report.keywords:
            return
        file = report.nodeid.partition("::")[0]
        self.before.setdefault(file, rests_on(file, self.root))
        self.passed[file] = self.passed.get(file, True) and report.passed

    def pytest_sessionfinish(self):
        _all.cache_clear()
        same = {
            f: d for f, d in self.before.items() if self.passed[f] and rests_on(f, self.root) == d
        }
        (self.root / KEPT).write_text(json.dumps(same, indent=1, sort_keys=True) + "\n")
