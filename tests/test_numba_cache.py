"""A compiled kernel goes stale when a function or a constant of another module changes."""

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
    for name in ("swap/model.py", "lab/boot.py", "book/build.py", "params.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    before = numba_cache.digest(tmp_path)
    (tmp_path / "lab/boot.py").write_text("changed")
    (tmp_path / "book/build.py").write_text("changed")
    assert numba_cache.digest(tmp_path) == before
    (tmp_path / "params.py").write_text("changed")
    after_params = numba_cache.digest(tmp_path)
    (tmp_path / "swap/model.py").rename(tmp_path / "swap/other.py")
    assert len({before, after_params, numba_cache.digest(tmp_path)}) == 3
