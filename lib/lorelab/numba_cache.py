"""Where numba keeps compiled kernels: by what each is made of, wherever the checkout lies.

numba's `cache=True` looks at the file of the compiled function alone, and keeps it by that file's
path. A kernel that calls another module's function, or reads its constants, would go on running
the old ones; one compiled with checks of bounds would stand in for one without, and the other way
round; and every checkout would compile all of them anew.
"""

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
LOCATORS = "lorelab.numba_located.Located,InTreeCacheLocator,IPythonCacheLocator"
FLAGS = ("NUMBA_BOUNDSCHECK",)
"""What changes the code that numba makes and not the name that it keeps it under."""
KEPT_DAYS = 14
_IMPORTS = re.compile(r"^from ([\w.]+) import (\([^)]*\)|.*)$|^import ([\w.]+)", re.M)


def digest(file: Path, package: Path = PACKAGE) -> str:
    """Sixteen hex digits that change with any module that kernels of a file may be made of."""
    total = hashlib.sha256()
    for name in FLAGS:
        total.update(f"{name}={os.environ.get(name, '')}\0".encode())
    for each in sorted(made_of(file, package)):
        total.update(f"{each.relative_to(package)}\0".encode())
        total.update(hashlib.sha256(each.read_bytes()).digest())
    return total.hexdigest()[:16]


def made_of(file: Path, package: Path = PACKAGE) -> set[Path]:
    """The modules of the package that a file imports as it is loaded, and theirs, and itself."""
    modules, left = set(), [file]
    while left:
        each = left.pop()
        if each not in modules:
            modules.add(each)
            left += _imported(each, package)
    return modules


@cache
def _imported(file: Path, package: Path) -> list[Path]:
    names = []
    for module, named, whole in _IMPORTS.findall(file.read_text()):
        names += (
            [whole] if whole else [module, *(f"{module}.{n}" for n in re.findall(r"\w+", named))]
        )
    # The package itself is imported by all, and no kernel is made of what it imports.
    inside = (Path(*name.split(".")[1:]) for name in names if name.startswith(f"{package.name}."))
    places = (place for at in inside for place in (f"{at}.py", f"{at}/__init__.py"))
    return [package / place for place in places if (package / place).is_file()]


def keep_apart() -> None:
    """Point numba at the cache of this user; must run before a kernel is defined."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "lorelab/numba")
    _point(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        _for_this_run()
        return
    for other in folder.iterdir():
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
    settings = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": LOCATORS}
    os.environ.update({f"NUMBA_{name}": value for name, value in settings.items()})
    if "numba" in sys.modules:
        for name, value in settings.items():
            setattr(sys.modules["numba"].config, name, value)
