"""Commands of `lorelab` that change nothing, in a copy of the checkout, each in its own process.

They are forked from one that has imported the command line, which takes longer than most of them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAM = """
import json, os, sys
from tempfile import TemporaryFile
from lorelab.cli import main

answers = []
for words in json.load(sys.stdin):
    with TemporaryFile() as out, TemporaryFile() as err:
        if (child := os.fork()) == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.argv[1:] = words
            main()
            sys.exit()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [os.pread(file.fileno(), 1 << 24, 0).decode() for file in (out, err)]
    answers.append([status, *texts])
print(json.dumps(answers))
"""


class Answer(NamedTuple):
    """What came of a command."""

    status: int
    out: str
    err: str


def answers(folder: Path, commands: Sequence[Sequence[str]]) -> list[Answer]:
    """What comes of each; the cache is the folder's own."""
    there = {"PYTHONPATH": str(folder / "lib"), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, **there, "COLUMNS": "200"},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [Answer(*each) for each in json.loads(done.stdout)]
