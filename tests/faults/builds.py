"""`lorelab lab build` that is killed on its way: the build of a kernel, and that of the guest."""

import ctypes
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from lorelab.lab import cache, recipes
from lorelab.lab import guest as guests
from tests.faults.trials import Ended, Started

DESIGN = "gso"
COMMAND = ["lab", "build", DESIGN]
KERNEL_SECONDS = 30.0
GUEST_FILES = {".lock", "build.log", "guest.json", "root"}


def kernel(number: int) -> Iterator[pd.DataFrame]:
    """A kernel's build, killed `number` times on its way, then left alone: a row a kill.

    In a copy of the cache without that kernel, and so from patching the source to the image. The
    kills follow one another, so each is what the others call the second run of the one before. Of
    a row that was killed again *failed again* says that it had ended by itself with an error, and
    *lost* that it compiled what an earlier one had finished; of the last, that the image is not
    the one in the cache, byte for byte.
    """
    image, log = _image(), recipes.recipe(DESIGN).tree / "build.log"
    wanted, there = _digest(image), {path.name for path in image.parent.iterdir()}
    rows, done = [], set()
    with _copied_cache():
        shutil.rmtree(image)
        for seed in range(number + 1):
            began = time.time()
            ended = _killed("build", seed, KERNEL_SECONDS) if seed < number else _whole()
            with cache.locked(log.parent):  # held by what outlives the killed one for a moment
                compiled = _compiled(log) if log.stat().st_mtime > began else []
            if rows:
                rows[-1]["failed_again"] = int(ended.status not in (0, -signal.SIGKILL))
                rows[-1]["lost"] = int(not done.isdisjoint(compiled))
                print(*rows[-1].values(), len(done), file=sys.stderr, flush=True)
            if seed == number:
                rows[-1]["left_over"] |= int(_strays(image, there) != set())
                rows[-1]["lost"] |= int(ended.status != 0 or _digest(image) != wanted)
                print(*rows[-1].values(), ended.said[-2000:], file=sys.stderr, flush=True)
                break
            # The last of what it said may not have been through.
            done |= set(compiled[: -2 * os.cpu_count()])
            row = _row("build", ended)
            row["half_written"] = int(image.exists() and _digest(image) != wanted)
            row["left_over"] = int(_strays(image, there) - {f"{image.name}.part"} != set())
            rows.append(row)
    yield pd.DataFrame(rows)


def guest(number: int) -> Iterator[pd.DataFrame]:
    """The build of the guest's files, killed and then given again, `number` times: a row a kill.

    After each kill all rows so far, so that trials that are ended early are kept.

    In a cache of its own that has the kernels and no guest. Every file of the guest has to be the
    one of a build that was never disturbed; and no mount and no file of mmdebstrap may stay.
    """
    with _own_cache() as scratch:
        undisturbed = _whole()
        folder = guests.built().root.parent
        wanted, rows = _files(folder / "root"), []
        for seed in range(number):
            shutil.rmtree(folder)
            ended = _killed("guest", seed, undisturbed.seconds)
            row, before = _row("guest", ended), guests.find()
            row["half_written"] = int(before is not None and _files(before.root) != wanted)
            again = _whole()
            row["failed_again"] = int(again.status != 0)
            strays = {path.name for path in folder.iterdir()} - GUEST_FILES
            mounted = str(folder) in Path("/proc/mounts").read_text()
            row["left_over"] = int(bool(strays) or mounted or any(scratch.iterdir()))
            row["lost"] = int(again.status != 0 or _files(folder / "root") != wanted)
            rows.append(row)
            said = "" if again.status == 0 else again.said[-2000:]
            print(*row.values(), strays, said, file=sys.stderr, flush=True)
            yield pd.DataFrame(rows)


TRIALS: dict[str, Callable[[int], Iterator[pd.DataFrame]]] = {"build": kernel, "guest": guest}


def _killed(name: str, seed: int, seconds: float) -> Ended:
    """Kill -9 at a moment within `seconds`."""
    one = Started(COMMAND)
    time.sleep(random.Random(f"{name} kill -9 {seed}").uniform(0, seconds))
    with suppress(ProcessLookupError):
        os.kill(one.pid, signal.SIGKILL)
    return one.wait()


def _whole() -> Ended:
    return Started(COMMAND).wait()


def _row(name: str, ended: Ended) -> dict:
    clear = ended.status in (0, -signal.SIGKILL)
    return {
        "door": name,
        "fault": "kill -9",
        "trials": 1,
        "disturbed": int(ended.status != 0),
        "unclear": int(not clear),
        "half_written": 0,
        "left_over": 0,
        "failed_again": 0,
        "lost": 0,
        "said": "" if clear else ended.said,
    }


def _image() -> Path:
    return recipes.recipe(DESIGN).folder


def _digest(folder: Path) -> str:
    """Of a kernel's image, if it is the one that is written down beside it."""
    try:
        told = json.loads((folder / "kernel.json").read_text())["image_sha256"]
        return told if cache.file_digest(folder / "bzImage") == told else "half"
    except (OSError, ValueError, KeyError):
        return "half"


def _strays(image: Path, there: set[str]) -> set[str]:
    return {path.name for path in image.parent.iterdir()} - there


def _compiled(log: Path) -> list[str]:
    """Objects that make said it compiles, in order."""
    return re.findall(r"^  CC\s+(\S+)$", log.read_text(errors="replace"), re.MULTILINE)


def _files(root: Path) -> dict[str, tuple]:
    """What a guest is: type and mode of each of its files, and what is in it."""
    found = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        what = ""
        if stat.S_ISREG(mode):
            what = cache.file_digest(path)
        elif stat.S_ISLNK(mode):
            what = os.readlink(path)
        found[str(path.relative_to(root))] = mode, what
    return found


@contextmanager
def _own_cache() -> Iterator[Path]:
    """A cache with the finished kernels and programs; gives the folder for what is temporary."""
    with tempfile.TemporaryDirectory(prefix="trials-", dir="/var/tmp") as made:
        own, scratch = Path(made, "cache"), Path(made, "tmp")
        scratch.mkdir()
        for name in ("kernel", "programs"):
            left_out = shutil.ignore_patterns("work")
            shutil.copytree(cache.root() / name, own / "lorelab" / name, ignore=left_out)
        before = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "TMPDIR")}
        os.environ |= {"XDG_CACHE_HOME": str(own), "TMPDIR": str(scratch)}
        try:
            yield scratch
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


@contextmanager
def _copied_cache() -> Iterator[None]:
    """A copy of the cache in its place, for this process and its children alone.

    In its place, for elsewhere make would compile all again: its commands name files by their path.
    """
    new_namespace = 0x20000  # CLONE_NEWNS of sched.h
    if ctypes.CDLL(None, use_errno=True).unshare(new_namespace):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with tempfile.TemporaryDirectory(prefix="trials-", dir="/var/tmp") as copy:
        # The guest's image is a sparse file of many GiB.
        subprocess.run(["cp", "-a", "--sparse=always", cache.root(), copy], check=True)
        subprocess.run(["mount", "--bind", Path(copy, "lorelab"), cache.root()], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", cache.root()], check=True)
