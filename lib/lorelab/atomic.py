"""Files that are there whole or not at all, whatever happens to who writes them."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lorelab.errors import BadInput, RunFailed

LEFTOVER_PREFIX = ".lorelab-"
"""Begin of the name of a folder in which something is written, to be moved to its place."""


@contextmanager
def folder(beside: Path) -> Iterator[Path]:
    """A folder in `beside` to write in, for one process; it goes with what was not moved out of it.

    What processes that were killed left there goes first. Two at once do not see each other: each
    holds a lock on its own folder, which the kernel drops when its process ends, however it ends.

    Parameters
    ----------
    beside : Path
        Where the result goes: on the same file system, so that moving is one step.

    Raises
    ------
    OSError
        `beside` is not there or can't be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     with folder(Path(scratch)) as made:
    ...         _ = (made / "half").write_text("not moved out")
    ...         _ = (made / "all").write_text("all of it")
    ...         _ = (made / "all").replace(Path(scratch, "all"))
    ...     sorted(path.name for path in Path(scratch).iterdir())
    ['all']
    """
    _clear(beside)
    while True:
        scratch = Path(tempfile.mkdtemp(dir=beside, prefix=LEFTOVER_PREFIX))
        if (lock := _held(scratch)) is not None:
            break  # not taken for a leftover between these two lines
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(lock)


@contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """A folder to write in that stands at `place` afterwards; there is none if anything fails.

    Parameters
    ----------
    place : Path
        As a reader named it with -o.

    Raises
    ------
    BadInput
        It is there already.
    RunFailed
        It cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     with new_folder(Path(scratch, "tables")) as made:
    ...         _ = (made / "run.csv").write_text("step,value")
    ...     [path.name for path in Path(scratch, "tables").iterdir()]
    ['run.csv']
    """
    if place.exists():
        raise BadInput(f"{place} is there already; give -o another name")
    try:
        with folder(place.parent) as part:
            inside = part / place.name
            inside.mkdir()
            yield inside
            inside.rename(place)
    except OSError as error:
        reason = f"{error.strerror}; give -o another place"
        raise RunFailed(f"cannot write {place}: {reason}") from None


def write(file: Path, content: str | bytes, new: bool = False) -> Path:
    """Write a file in one step: another process sees what was there before, or all of it.

    Parameters
    ----------
    file : Path
    content : str or bytes
    new : bool
        Leave a file alone that is there already, and raise FileExistsError.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        Its folder is not there or can't be written; then the file is as it was. It names the file,
        as what a full disk raises by itself does not.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     file = write(Path(scratch, "run.csv"), "step,value")
    ...     [path.name for path in Path(scratch).iterdir()], file.read_text()
    (['run.csv'], 'step,value')
    """
    try:
        with folder(file.parent) as scratch:
            part = scratch / file.name
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            if new:
                file.hardlink_to(part)
                return file
            return part.replace(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None


def _clear(beside: Path) -> None:
    """Remove the folders that nobody holds any more."""
    for left in beside.glob(f"{LEFTOVER_PREFIX}*"):
        if (lock := _held(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _held(folder: Path) -> int | None:
    """Lock a folder; None where another holds it or has removed it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.exists():
            return lock
    os.close(lock)
    return None
