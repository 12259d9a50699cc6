"""Where the laboratory keeps what it builds: outside the checkout, named after its parts."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lorelab.errors import BadInput

KERNEL_FILES = Path(__file__).resolve().parents[2] / "kernel"
"""lib/kernel of this checkout: a folder a design, and `common`."""


def designs() -> list[str]:
    """Designs that have files for a kernel: folders of lib/kernel."""
    folders = {path.name for path in KERNEL_FILES.iterdir() if path.is_dir()}
    return sorted(folders - {"common"})


def files(design: str | None, pattern: str) -> list[Path]:
    """Files of `common`, then of the design's own folder, each in the order of their names."""
    homes = ["common"] if design is None else ["common", design]
    return [file for home in homes for file in sorted((KERNEL_FILES / home).glob(pattern))]


def root() -> Path:
    """`$XDG_CACHE_HOME/lorelab`, or `~/.cache/lorelab`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lorelab"


def digest(*parts: str | bytes) -> str:
    """SHA-256 over `parts`, each with its length so that no two lists run together.

    Examples
    --------
    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8, "little"))
        sha.update(data)
    return sha.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def need_room(folder: Path, mib: int) -> None:
    """Raise BadInput when the file system of `folder` has less than `mib` MiB free."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free >> 20
    if free < mib:
        raise BadInput(
            f"{existing}: {free} MiB free, the build needs {mib} MiB; make room, or set "
            "XDG_CACHE_HOME to a folder on a larger disk"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for one process at a time; the lock goes with the process, however it ends.

    And with the last command that it follows: one that outlives a killed process, for a moment,
    still writes there.

    Raises
    ------
    BadInput
        A file has the folder's name, or that of a folder above it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next(at for at in (folder, *folder.parents) if at.is_file())
        raise BadInput(f"{file} is a file, and a folder is needed there; move it away") from None
    with (folder / ".lock").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
