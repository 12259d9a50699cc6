"""Commands of `lorelab` in a copy of the checkout, each in its own process.

They are forked from one that has imported the command line, which takes longer than most of them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PROGRAM = """
import json, os, sys
from tempfile import TemporaryFile
from lorelab.cli import main

for line in sys.stdin:
    with TemporaryFile() as out, TemporaryFile() as err:
        if (child := os.fork()) == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.argv[1:] = json.loads(line)
            main()
            sys.exit()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [os.pread(file.fileno(), 1 << 24, 0).decode() for file in (out, err)]
    print(json.dumps([status, *texts]), flush=True)
"""


class Answer(NamedTuple):
    """What came of a command."""

    status: int
    out: str
    err: str


@contextmanager
def doors(folder: Path, cache: Path | None = None) -> Iterator[Callable[..., Answer]]:
    """Gives what runs a command of the library in a folder; the cache is the folder's own."""
    there = {"PYTHONPATH": str(folder / "lib"), "XDG_CACHE_HOME": str(cache or folder / "cache")}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, **there, "COLUMNS": "200"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def lorelab(*words: str) -> Answer:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            return Answer(*json.loads(process.stdout.readline()))

        # At the end of the block its input ends, and so does it.
        yield lorelab


def answers(folder: Path, commands: Sequence[Sequence[str]]) -> list[Answer]:
    """What comes of each."""
    with doors(folder) as lorelab:
        return [lorelab(*words) for words in commands]
