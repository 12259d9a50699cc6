"""An IPython kernel that notes what it reads: `python -m lorelab.book.watch -f ...`.

Python's own `open` sees to it, so a file is noticed whoever in Python opens it (pandas, NumPy,
pathlib); one that a C library or a child process opens by itself is not. So `data/` has CSV and
JSON, and no Parquet, which pyarrow opens in C++.
"""

import os
import sys

from ipykernel.kernelapp import IPKernelApp

IGNORED = {".git", ".venv", ".cache", "build", "__pycache__", ".ipynb_checkpoints", ".ruff_cache"}
"""Folders of a checkout that hold nothing a notebook's results may rest on."""
WRITES = os.O_WRONLY | os.O_RDWR

files: set[str] = set()
folders: set[str] = set()
written: set[str] = set()
packages: set[str] = set()
"""Top-level names of all modules that were looked for, found or not."""


def note(event: str, arguments: tuple) -> None:
    """Audit hook: remember files read before they were written, folders listed, imports tried."""
    if event == "import":
        packages.add(arguments[0].partition(".")[0])
    if event not in ("open", "os.listdir", "os.scandir") or isinstance(arguments[0], int):
        return
    path = os.path.abspath(os.fsdecode(arguments[0] or "."))
    if event != "open":
        # The import system lists folders to find modules; those it finds are in sys.modules.
        if not sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):
            folders.add(path)
    elif arguments[2] & WRITES:
        if path not in files:
            written.add(path)
    elif path not in written:
        files.add(path)


def read(root: str) -> dict[str, list[str]]:
    """Files (modules included) and folders of the checkout at `root` that were read so far.

    And the packages that were imported, or would have been if they were there: a package newly
    installed can change what the others do.
    """
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    tops = packages | {name.partition(".")[0] for name in list(sys.modules)}
    return {
        "packages": sorted(tops - sys.stdlib_module_names),
        "files": within_root(root, files | {os.path.abspath(name) for name in modules if name}),
        "folders": within_root(root, folders),
    }


def within_root(root: str, paths: set[str]) -> list[str]:
    """Those of `paths` that are part of the checkout at `root`, relative to it, in order."""
    names = set()
    for path in list(paths):
        for form in (path, os.path.realpath(path)):
            relative = os.path.relpath(form, root)
            if not relative.startswith("..") and not IGNORED & set(relative.split(os.sep)):
                names.add(relative)
    return sorted(names)


def main() -> None:
    """Be a kernel, watched."""
    sys.addaudithook(note)
    IPKernelApp.launch_instance(argv=sys.argv[1:])


if __name__ == "__main__":
    # Not as `__main__`, which IPython replaces by the notebook's own.
    from lorelab.book import watch

    watch.main()
