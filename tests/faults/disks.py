"""A small disk of its own that is full or read-only, and what a command says and leaves there."""

import ctypes
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lorelab import cli

PAGE = 4096
CLONE_NEWNS = 0x20000


@cache
def mounts_of_its_own() -> bool:
    """Whether this process has mounts of its own now, which end with it, however it ends."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS):
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"]).returncode == 0


def mount(at: Path, *options: object) -> bool:
    if not mounts_of_its_own():
        return False
    return subprocess.run(["mount", *options, at], capture_output=True).returncode == 0


def there(disk: Path) -> dict[Path, bytes | bool]:
    """Content of each file, and False for what is none."""
    return {path: path.is_file() and path.read_bytes() for path in disk.rglob("*")}


def fill(disk: Path, pages: int = 1) -> None:
    """Leave room for a few pages of 4 KiB: a file begins to be written, and no more."""
    used = sum(path.stat().st_blocks // 2 for path in disk.rglob("*") if path.is_file())
    assert mount(disk, "-o", f"remount,size={used + 4 * pages}k")


def one_line(run: Callable[[], object], capfd: pytest.CaptureFixture[str]) -> str:
    """What a command that can't write says: one line, whatever it was that did not work."""
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        cli.main(lambda **_: run())
    said = capfd.readouterr().err
    lines = [line for line in said.splitlines() if line.startswith("lorelab: ")]
    assert ended.value.code in (1, 2) and len(lines) == 1 and "Traceback" not in said, said
    return lines[0]
