"""The C of a benchmark, built for this processor as numba builds for it."""

import ctypes
import shutil
import subprocess
from pathlib import Path

from lorelab.errors import RunFailed

HERE = Path(__file__).parent
BUILT = HERE.parent / "build" / "bench"
FLAGS = ["-O3", "-march=native", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]


def load(name: str) -> ctypes.CDLL:
    """Compile a source under bench/ with gcc -O3 and load it."""
    source = HERE / name
    if not shutil.which("gcc"):
        raise RunFailed(f"no gcc to build bench/{name} with; as root: apt-get install gcc")
    BUILT.mkdir(parents=True, exist_ok=True)
    library = BUILT / f"{source.stem}.so"
    done = subprocess.run(["gcc", *FLAGS, "-o", library, source], capture_output=True, text=True)
    if done.returncode:
        raise RunFailed(f"gcc failed on bench/{name}: {done.stderr.splitlines()[0]}")
    return ctypes.CDLL(str(library))
