"""Files of tests in a random order, those that boot as one stream beside the others.

`tests.conftest` takes these hooks over.
"""

import ast
import random
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[1]
BOOTS = {"laboratory", "patched"}
"""Fixtures of a test that boots; it has the marker `boots`."""
LONG = {"test_pages.py"}
"""Files that take a minute and more: begun last, one would be waited for."""


def pytest_addoption(parser):
    parser.addoption("--order", type=int, metavar="SEED", help="files in a random order")


def pytest_configure(config):
    config.addinivalue_line("markers", "boots: takes a kernel of the laboratory; not set by hand")


def pytest_report_header(config):
    seed = config.getoption("order")
    return None if seed is None else f"files in the order of seed {seed}: make test SEED={seed}"


def pytest_itemcollected(item):
    if not BOOTS.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker("boots")


def pytest_collection_modifyitems(config, items):
    if (seed := config.getoption("order")) is None:
        return
    files = sorted({file_of(item.nodeid) for item in items})
    random.Random(seed).shuffle(files)
    # Those that boot, then the long ones, then the others.
    files.sort(key=lambda file: (not boots(config.rootpath / file), Path(file).name not in LONG))
    items.sort(key=lambda item: files.index(file_of(item.nodeid)))


def file_of(nodeid):
    return nodeid.partition("::")[0]


@cache
def boots(file):
    """Whether a test in a file boots, or a fixture."""
    if file.suffix != ".py":
        return False
    functions = [
        one for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)
    ]
    return any(not BOOTS.isdisjoint(arg.arg for arg in one.args.args) for one in functions)


class Streams(LoadFileScheduling):
    """Files that boot are one worker's, one after the other; of the others each takes the next.

    Two boots at once on two CPUs take as long as one after the other, and nothing computes.
    """

    def _split_scope(self, nodeid):
        file = file_of(nodeid)
        return "boots" if boots(self.config.rootpath / file) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    # Optional, as `make mutants` runs pytest without xdist.
    return Streams(config, log) if config.getoption("dist") == "loadfile" else None
