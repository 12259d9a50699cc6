"""A compiled kernel goes stale when a function or a constant of another module changes."""

import ast
import os
import subprocess
import sys

from lorelab import numba_cache

CALLER = """
import numba
from lorelab import numba_cache
from pathlib import Path
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
    without = ("lab/boot.py", "book/build.py", "swap/kernel.py")
    for name in ("swap/model.py", "params.py", *without):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    before = numba_cache.digest(tmp_path)
    for name in without:
        (tmp_path / name).write_text("changed")
    assert numba_cache.digest(tmp_path) == before
    (tmp_path / "params.py").write_text("changed")
    after_params = numba_cache.digest(tmp_path)
    (tmp_path / "swap/model.py").rename(tmp_path / "swap/other.py")
    assert len({before, after_params, numba_cache.digest(tmp_path)}) == 3


def test_no_module_with_a_kernel_imports_what_the_digest_leaves_out():
    out = {name.removesuffix(".py") for name in numba_cache.NO_KERNELS}
    for file in numba_cache.PACKAGE.rglob("*.py"):
        text = file.read_text()
        if "njit" not in text or file.name == "numba_cache.py":
            continue
        assert file.name not in numba_cache.NO_KERNELS
        tree = ast.parse(text)
        names = {part for node in ast.walk(tree) for part in imported(node)}
        assert not names & out, file


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {part for alias in node.names for part in alias.name.split(".")}
    if isinstance(node, ast.ImportFrom):
        return {*(node.module or "").split("."), *(alias.name for alias in node.names)}
    return set()
