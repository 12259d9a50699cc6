"""A process that runs pytest again and again, each time in a fork that has the libraries loaded.

    python -m mutants.forks

Takes a JSON object a line: `arguments` of pytest, `log`, the file that its output goes to, and
`changed`, the name, file and new text of a module, or null. Answers each with a line: the exit
code, or minus the number of the signal that ended the run.
"""

import gc
import json
import os
import resource
import signal
import sys
import traceback
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location

# What the tests import, so that no fork has to.
import altair  # noqa: F401
import hypothesis
import numba
import numba.core.caching
import numpy  # noqa: F401
import pandas  # noqa: F401
import pydantic  # noqa: F401
import pytest
import rich.progress  # noqa: F401
import scipy.special  # noqa: F401

MEMORY = 6 << 30
"""Bytes that a run may write to. Addresses are more: what draws charts reserves 64 GiB of them."""
IMPORTS = 60
"""Seconds of CPU until the first test; chosen.py sets those of each test."""
BLOCKED = 1800
"""Seconds after which a run ends whose test takes no CPU."""


class Changed(SourceFileLoader):
    """Finds and loads one module with another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def find_spec(self, name, path, target=None):
        """Of the one module."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname):
        """Of the other text; it is kept nowhere."""
        return compile(self.text, self.path, "exec")


class Patience:
    """A pytest plugin: the time until a run ends begins anew with each test.

    A design's tests without compilation take more than `BLOCKED` together.
    """

    def pytest_runtest_logstart(self) -> None:
        """Before a test."""
        signal.alarm(BLOCKED)


def run(arguments: list[str], log: str, changed: list[str] | None) -> int:
    """Run pytest in this process."""
    with open(os.devnull) as nothing, open(log, "w") as output:
        for stream, place in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(stream.fileno(), place)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, IMPORTS)
    signal.alarm(BLOCKED)
    if changed:
        sys.meta_path.insert(0, Changed(*changed))
        # What is compiled beside a mutation is kept nowhere.
        numba.core.caching.Cache.save_overload = lambda *_: None
    # The same examples each time, and no search for a smaller one: the first that fails is enough.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, phases=phases
    )
    hypothesis.settings.load_profile("mutants")
    return int(pytest.main(arguments, plugins=[Patience()]))


def main() -> None:
    """See the module's docstring."""
    gc.freeze()  # what is loaded stays, and no fork has to look through it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = pytest.ExitCode.INTERNAL_ERROR
            try:
                code = run(**json.loads(line))
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
