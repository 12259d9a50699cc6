"""A pytest plugin: chosen tests alone, in a given order, none for much longer than it took before.

    pytest -p mutants.chosen --chosen FILE --begun FILE

The first file holds a JSON object: the tests, and the seconds of CPU that each may take; beyond
them the process ends by a signal, even inside of compiled code. The second gets the name of the
test that was begun last.
"""

import json
import signal
from pathlib import Path

import pytest


def pytest_addoption(parser):
    """Take the files."""
    parser.addoption("--chosen", type=Path, required=True)
    parser.addoption("--begun", type=Path, required=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep the chosen tests, those of a file together, for they share its fixtures."""
    chosen = json.loads(config.getoption("--chosen").read_text())
    places = {id: place for place, id in enumerate(chosen)}
    files = {}
    for id in chosen:
        files.setdefault(id.split("::")[0], len(files))
    items[:] = [item for item in items if item.nodeid in places]
    items.sort(key=lambda item: (files[item.nodeid.split("::")[0]], places[item.nodeid]))
    config.stash[ALLOWED] = chosen


ALLOWED = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Set the limit of a test."""
    signal.setitimer(signal.ITIMER_PROF, item.config.stash[ALLOWED][item.nodeid])
    item.config.getoption("--begun").write_text(item.nodeid)
