"""A compiled kernel goes stale when a function or a constant of another module changes."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from lorelab import numba_cache

CALLER = """
from pathlib import Path

from lorelab import numba_cache

numba_cache.PACKAGE = Path(__file__).parent
import numba
import numpy as np

from part.callee import STEP, add


@numba.njit(cache=True)
def run(x):
    return add(x) * STEP


@numba.njit(cache=True)
def beyond(a, i):
    return a[i]


print(run(1), sum(run.stats.cache_hits.values()))
try:
    beyond(np.zeros(1), 8)
except IndexError:
    print("IndexError")
"""
CALLEE = """
import numba
STEP = {step}
@numba.njit(cache=True)
def add(x):
    return x + {increment}
"""


def checkout(folder: Path, step: int = 10, increment: int = 1) -> Path:
    """A package `part` with a kernel that calls another file's."""
    part = folder / "part"
    part.mkdir(parents=True, exist_ok=True)
    (part / "__init__.py").touch()
    (part / "caller.py").write_text(CALLER)
    (part / "callee.py").write_text(CALLEE.format(step=step, increment=increment))
    return folder


def answer(folder: Path, cache: Path, **env: str) -> list[str]:
    """What the caller of a checkout prints: its answer, and how many kernels it had compiled."""
    done = subprocess.run(
        [sys.executable, "-m", "part.caller"],
        # Python's own bytecode goes by second and size, which two versions here may share.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(cache), **env},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_change_in_the_callee_or_in_its_constants_reaches_the_caller(tmp_path):
    cache = tmp_path / "cache"
    for step, increment, had in ((10, 1, "0"), (10, 2, "0"), (20, 2, "0"), (10, 1, "1")):
        folder = checkout(tmp_path, step, increment)
        assert answer(folder, cache)[:2] == [str((1 + increment) * step), had]


def test_another_checkout_has_what_one_has_compiled(tmp_path):
    one, other = checkout(tmp_path / "one"), checkout(tmp_path / "other")
    assert answer(one, tmp_path / "cache")[:2] == ["20", "0"]
    assert answer(other, tmp_path / "cache")[:2] == ["20", "1"]


def test_code_without_checks_of_bounds_does_not_stand_in_for_code_with_them(tmp_path):
    folder, cache = checkout(tmp_path), tmp_path / "cache"
    for checks, said in (("0", []), ("1", ["IndexError"]), ("0", []), ("1", ["IndexError"])):
        assert answer(folder, cache, NUMBA_BOUNDSCHECK=checks)[2:] == said


def test_a_digest_follows_what_a_file_imports_and_nothing_else(tmp_path):
    package = tmp_path / "part"
    for name in ("model/__init__", "model/core", "model/other", "params", "pages"):
        (package / name).parent.mkdir(exist_ok=True, parents=True)
        (package / f"{name}.py").write_text("")
    core, other, params = (
        package / f"{name}.py" for name in ("model/core", "model/other", "params")
    )
    core.write_text("from part.model import (  # both\n    other,\n)\n")
    other.write_text("from part.params import LIMIT\n")
    inside = package / "model/__init__.py"
    assert numba_cache.made_of(core, package) == {core, inside, other, params}
    before = numba_cache.digest(core, package)
    (package / "pages.py").write_text("changed")
    assert numba_cache.digest(core, package) == before
    params.write_text("LIMIT = 3")
    after = numba_cache.digest(core, package)
    other.write_text("")
    numba_cache._imported.cache_clear()
    assert len({before, after, numba_cache.digest(core, package)}) == 3


def test_what_a_kernel_is_made_of_is_found_in_each_of_its_modules():
    modules = {module(file): file for file in numba_cache.PACKAGE.rglob("*.py")}
    kernels = [file for file in modules.values() if "njit" in file.read_text()]
    assert len(kernels) > 15
    for file in kernels:
        reached, left = set(), [file]
        while left:
            each = left.pop()
            if each not in reached:
                reached.add(each)
                left += [modules[name] for name in imported(each) & modules.keys()]
        assert reached <= numba_cache.made_of(file), file


def module(file: Path) -> str:
    parts = file.relative_to(numba_cache.PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path) -> set[str]:
    """Names that a file imports as it is loaded, but those that a type checker alone needs."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    # The package itself is imported by all.
    return found - {"lorelab"}


def test_without_a_place_of_its_own_kernels_are_kept_for_this_run(tmp_path, monkeypatch):
    """As for a user without a home, with another's checkout: numba itself stops there."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr(numba_cache.os, "access", lambda path, how: False)
    monkeypatch.setattr(numba_cache.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(config=SimpleNamespace()))
    gone = []
    monkeypatch.setattr(numba_cache.atexit, "register", lambda *given, **more: gone.append(given))
    numba_cache.keep_apart()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    assert folder.is_dir() and folder.parent == tmp_path
    assert gone == [(shutil.rmtree, str(folder))]
