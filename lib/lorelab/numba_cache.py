"""Where numba keeps compiled kernels: a folder of its own for every state of the package.

numba's `cache=True` looks at the file of the compiled function alone. A kernel that calls another
module's function, or reads its constants, would go on running the old ones.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).parent
NO_KERNELS = {
    *("agree", "book", "judging", "kernel", "lab", "pages", "showing", "sweep", "thread"),
    *("cli.py", "commands.py", "rerun.py", "atomic.py"),
}
"""Rooms and files that no compiled kernel is made of: a change there leaves what is kept alone."""
KEPT_DAYS = 14


def digest(package: Path = PACKAGE) -> str:
    """Sixteen hex digits that change with any module a kernel may be made of."""
    total = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package)
        if NO_KERNELS.isdisjoint(name.parts):
            total.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def keep_apart(package: Path = PACKAGE) -> None:
    """Point numba at this state's folder; must run before a kernel is defined."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache, "lorelab/numba", digest(package))
    _point(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        _for_this_run()
        return
    for other in folder.parent.iterdir():
        if other.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
            shutil.rmtree(other, ignore_errors=True)


def _for_this_run() -> None:
    """Keep compiled kernels in a folder that goes with the process; numba stops where it has none.

    As for a user without a home, with a checkout that is another's.
    """
    if os.access(PACKAGE, os.W_OK):
        return  # numba keeps them beside their files
    folder = tempfile.mkdtemp(prefix="lorelab-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _point(Path(folder))


def _point(folder: Path) -> None:
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)
