"""A pytest plugin: which tests pass in time, how long each takes, and which functions it runs.

    pytest -p mutants.traced --limit SECONDS --ran FILE

Tests that boot a kernel are left out. FILE gets a JSON object: of each test that passes within the
limit its seconds of CPU and the functions of the library that it runs, FILE:NAME each. A fixture's
functions are those of every test that uses it; functions that run before the first test, at an
import, are those of every test. The caches of functions are emptied before each test, or only the
first one would be seen to fill them.
"""

import functools
import json
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

LIBRARY = str(Path(__file__).resolve().parents[1] / "lib")


class Traced:
    """The functions that ran since the last call of `taken`."""

    def __init__(self):
        self.codes = {}

    def __call__(self, frame, event, argument):
        """Note the function; none of its lines, so it returns no tracer."""
        self.codes[id(frame.f_code)] = frame.f_code

    def taken(self):
        """Their names; one that stands inside another is that other."""
        codes, self.codes = list(self.codes.values()), {}
        inside = (code for code in codes if code.co_filename.startswith(LIBRARY))
        return {f"{code.co_filename}:{code.co_qualname.split('.<locals>')[0]}" for code in inside}


TRACED = Traced()
ALWAYS: set[str] = set()
OF_FIXTURE: dict[str, set[str]] = defaultdict(set)
OF_TEST: dict[str, set[str]] = {}
TOOK: dict[str, float] = {}


class TooSlow(BaseException):
    """A test goes on beyond the limit; no Exception, which hypothesis would try again."""


def pytest_addoption(parser):
    """Take the limit and the file."""
    parser.addoption("--limit", type=float, required=True)
    parser.addoption("--ran", type=Path, required=True)


def pytest_configure():
    """Before any module of a design is imported."""
    sys.settrace(TRACED)


def pytest_collection_modifyitems(items):
    """Leave out what boots, which tests/conftest.py has the fixture of."""
    items[:] = [item for item in items if "laboratory" not in item.fixturenames]


def pytest_collection_finish():
    """What ran until here ran at an import."""
    ALWAYS.update(TRACED.taken())


def empty_caches():
    """Forget what the functions of the library and of the tests have kept."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("lorelab.", "test")):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Break a test off at the limit; note what it took and ran."""
    empty_caches()
    signal.signal(signal.SIGPROF, stop)
    begun = time.process_time()
    try:
        return (yield)
    finally:
        sys.settrace(TRACED)
        TOOK[item.nodeid] = time.process_time() - begun
        fixtures = (OF_FIXTURE[name] for name in item.fixturenames)
        OF_TEST[item.nodeid] = TRACED.taken().union(*fixtures)


def stop(_, frame):
    """Raise in what is traced; at its begin, a moment later, for pytest wants to know a line."""
    if frame.f_code is Traced.__call__.__code__ or frame.f_lineno is None:
        signal.setitimer(signal.ITIMER_PROF, 0.001)
    else:
        raise TooSlow


def limited(item):
    """Break a set-up or a test off: a mutant's run goes through both again."""
    signal.setitimer(signal.ITIMER_PROF, item.config.getoption("--limit"))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


pytest_runtest_setup = pytest.hookimpl(wrapper=True)(limited)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(limited)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """Note what a fixture runs; what ran before is the test's, and stays so."""
    before = TRACED.codes
    TRACED.codes = {}
    try:
        return (yield)
    finally:
        codes = dict(TRACED.codes)
        OF_FIXTURE[fixturedef.argname] |= TRACED.taken()
        TRACED.codes = before | codes


PASSED: set[str] = set()


def pytest_runtest_logreport(report):
    """Note a test that passed."""
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


def pytest_sessionfinish(session):
    """Write the tests that passed."""
    sys.settrace(None)
    found = {id: [TOOK[id], sorted(OF_TEST[id] | ALWAYS)] for id in sorted(PASSED)}
    session.config.getoption("--ran").write_text(json.dumps(found))
