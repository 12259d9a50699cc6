"""What is finished of a sweep: one line a point, appended, in a folder that one sweep holds.

    FOLDER/plan.json            which points (`lorelab.running.sweep.plan`)
    FOLDER/points-RESTS.jsonl   number of the point, and its counters or why it failed
    FOLDER/table.parquet        all of them, written at the end

RESTS is a digest of what the points rest on (`rests_on`). Points of another state stay on the disk
under its own digest, and are not taken over.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import boot, cache, guest, needs, recipes
from lorelab.running.sweep.plan import Plan

LIBRARY = Path(__file__).resolve().parents[2]
DATA = LIBRARY.parents[1] / "data"


class Point(NamedTuple):
    """A finished point.

    Attributes
    ----------
    number : int
        In its plan.
    rows : list
        `[variant, step, counter, unit, value]` each, or none where it failed.
    failed : str
        Why it failed; empty otherwise.
    """

    number: int
    rows: list[list[Any]]
    failed: str = ""


class Journal:
    """The points of a plan that are finished, kept in `folder`.

    Parameters
    ----------
    folder : Path
        Is made if it is not there.
    plan : Plan
    rests : str
        As `rests_on` says.

    Attributes
    ----------
    done : dict
        Number of each finished point that did not fail, to the place of its line in the file.

    Raises
    ------
    BadInput
        The folder has another sweep, or another process is at work in it.
    RunFailed
        The folder can't be written.
    """

    def __init__(self, folder: Path, plan: Plan, rests: str) -> None:
        self.folder, self.plan = folder, plan
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / ".lock").open("w")
        except OSError as error:
            raise RunFailed(f"cannot write {folder}: {error.strerror}; give -o another") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"another sweep is at work in {folder}; wait, or give -o") from None
        self._check_plan()
        self.file = folder / f"points-{rests[:16]}.jsonl"
        self.others = [file for file in sorted(folder.glob("points-*.jsonl")) if file != self.file]
        self.done: dict[int, int] = {}
        self._read()
        # Unbuffered: what a full disk refused would be written once more as the file is closed.
        self._append = self.file.open("ab", buffering=0)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._append.close()
        self._lock.close()

    def keep(self, points: list[Point]) -> None:
        """Append finished points; on the disk before this returns, or RunFailed and none of them.

        What was kept before stays whole even where the disk is full.
        """
        at = self.file.stat().st_size
        lines = [json.dumps(point, separators=(",", ":")).encode() + b"\n" for point in points]
        try:
            left = memoryview(b"".join(lines))
            while left:
                left = left[self._append.write(left) :]
            os.fdatasync(self._append.fileno())
        except OSError as error:
            os.truncate(self.file, at)
            kept = f"{len(self.done)} of {len(self.plan)} points are kept"
            raise RunFailed(
                f"cannot write {self.file}: {error.strerror}; {kept}, make room and run it again"
            ) from None
        for point, line in zip(points, lines, strict=True):
            if not point.failed:
                self.done[point.number] = at
            at += len(line)

    def points(self) -> Iterator[Point]:
        """The finished points, in the order of the plan."""
        with self.file.open("rb") as file:
            for number in sorted(self.done):
                file.seek(self.done[number])
                yield Point(*json.loads(file.readline()))

    def _check_plan(self) -> None:
        file = self.folder / "plan.json"
        if file.exists():
            if file.read_text() != self.plan.text:
                raise BadInput(f"{self.folder} has another sweep (plan.json); give -o another")
            return
        try:
            atomic.write(file, self.plan.text)
        except OSError as error:
            raise RunFailed(f"cannot write {file}: {error.strerror}; make room") from None

    def _read(self) -> None:
        if not self.file.exists():
            return
        at = 0
        with self.file.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # torn as its writer was killed
                point = Point(*json.loads(line))
                if not point.failed:
                    self.done[point.number] = at
                at += len(line)
        os.truncate(self.file, at)


def rests_on(plan: Plan) -> str:
    """Digest of what a point rests on: the library, its data, Python and the packages.

    Of a notebook its own file, too; on a kernel what runs in the guest, the source that the kernel
    is built of, the compiler, the guest and QEMU.

    Raises
    ------
    BadInput
        What is needed for a kernel is not here; names the command that gets it.
    """
    folders = [DATA, cache.KERNEL_FILES] if plan.kernel else [DATA]
    data = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    files = sorted([*LIBRARY.rglob("*.py"), *data])
    parts = [f"{file.relative_to(LIBRARY.parents[1])} {cache.file_digest(file)}" for file in files]
    packages = sorted(f"{package.name} {package.version}" for package in distributions())
    if plan.target.endswith(".ipynb"):
        parts.append(cache.file_digest(Path(plan.target)))
    if plan.kernel:
        needs.check(needs.BOOT)
        parts += [recipes.recipe().digest, guest.built().info.digest, boot.qemu_version()]
    return cache.digest(python_version(), *packages, *parts)
