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
import numba
from lorelab import numba_cache
from pathlib import Path
from types import SimpleNamespace
numba_cache.keep_apart(Path(__file__).parent)
from callee import STEP, add
@numba.njit(cache=True)
def run(x):
    return add(x) * STEP
print(run(1))
"""
CALLEE = """
import numba
STEP = {step}
@numba.njit(cache=True)
def add(x):
    return x + {increment}
"""


def answer(tmp_path) -> int:
    done = subprocess.run(
        [sys.executable, tmp_path / "caller.py"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.split()[0])


def test_a_change_in_the_callee_or_in_its_constants_reaches_the_caller(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    for step, increment in ((10, 1), (10, 2), (20, 2), (10, 1)):
        (tmp_path / "callee.py").write_text(CALLEE.format(step=step, increment=increment))
        assert answer(tmp_path) == (1 + increment) * step


def test_the_digest_follows_kernels_and_not_the_rooms_without_any(tmp_path):
    rooms = ("swap/kernel/swapout.py", "swap/agree/swapout.py", "swap/thread/checks.py")
    without = ("lab/boot.py", "book/build.py", "swap/pages/charts.py", "cli.py", *rooms)
    for name in ("swap/model/core.py", "params.py", *without):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("")
    before = numba_cache.digest(tmp_path)
    for name in without:
        (tmp_path / name).write_text("changed")
    assert numba_cache.digest(tmp_path) == before
    (tmp_path / "params.py").write_text("changed")
    after_params = numba_cache.digest(tmp_path)
    (tmp_path / "swap/model/core.py").rename(tmp_path / "swap/model/other.py")
    assert len({before, after_params, numba_cache.digest(tmp_path)}) == 3


def test_no_module_with_a_kernel_rests_on_what_the_digest_leaves_out():
    modules = {module(file): file for file in numba_cache.PACKAGE.rglob("*.py")}
    # What a panel compiles is for a browser, and kept with what it rests on itself.
    kernels = {name: file for name, file in modules.items() if ".panel." not in name}
    reached = [name for name, file in kernels.items() if "njit" in file.read_text()]
    assert len(reached) > 15
    for name in reached:  # which grows
        reached += sorted(imported(modules[name]) & modules.keys() - set(reached))
    for name in reached:
        parts = modules[name].relative_to(numba_cache.PACKAGE).parts
        assert numba_cache.NO_KERNELS.isdisjoint(parts), name


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
    # The package itself is imported by all. A panel draws, but no compiled function of it does.
    drawn = {name for name in found if {"pages", "showing"} & set(name.split("."))}
    return found - {"lorelab"} - (drawn if "panel" in file.parts else set())


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
