"""A kernel's build that is killed on its way, again and again, and then left alone."""

import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from lorelab.lab import build as laboratory
from lorelab.lab import cache
from tests.faults.trials import Started


def trials(number: int, design: str = "gso") -> pd.DataFrame:
    """`lab build` of a kernel, killed `number` times on its way, then left alone: a row a kill.

    In a copy of the cache without that kernel, and so from patching the source to the image. The
    next trial is what the others call the second run; the last one must give the image that is in
    the cache, for an image follows from what it is made of.
    """
    image = laboratory.recipe(design).folder
    wanted, there = _image(image), {path.name for path in image.parent.iterdir()}
    chance, rows = random.Random(f"build {design}"), []
    with _copied_cache():
        shutil.rmtree(image)
        for _ in range(number):
            one = Started(["lab", "build", design])
            time.sleep(chance.uniform(0, 30))
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            ended = one.wait()
            clear = ended.status in (0, -signal.SIGKILL)
            rows.append(
                {
                    "door": "build",
                    "fault": "kill -9",
                    "trials": 1,
                    "disturbed": int(ended.status != 0),
                    "unclear": int(not clear),
                    "half_written": int(image.exists() and _half(image)),
                    "left_over": 0,
                    "failed_again": 0,
                    "lost": 0,
                    "said": "" if clear else ended.said,
                }
            )
            print(*rows[-1].values(), file=sys.stderr, flush=True)
        again = Started(["lab", "build", design]).wait()
        rows[-1]["failed_again"] = int(again.status != 0)
        rows[-1]["left_over"] = int({path.name for path in image.parent.iterdir()} != there)
        rows[-1]["lost"] = int(again.status != 0 or _image(image) != wanted)
        print(*rows[-1].values(), again.said[-2000:], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


@contextmanager
def _copied_cache():
    """A copy of the cache in its place, for this process and its children alone.

    In its place, for a kernel's build ID is a digest of debug information too, and so of its path.
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


def _half(folder: Path) -> bool:
    try:
        _image(folder)
    except (OSError, ValueError, KeyError):
        return True
    return False


def _image(folder: Path) -> str:
    """Digest of a kernel's image, if it is the one that is written down beside it."""
    told = json.loads((folder / "kernel.json").read_text())["image_sha256"]
    if cache.file_digest(folder / "bzImage") != told:
        raise ValueError("not the image that was built")
    return told
