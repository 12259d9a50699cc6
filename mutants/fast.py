"""A pytest plugin: which tests pass, how long each takes, and none for longer than a limit.

    pytest -p mutants.fast --limit SECONDS --passed FILE

FILE gets the tests that pass in time, the fastest first.
"""

import signal
from pathlib import Path

import pytest

TOOK: dict[str, float] = {}


class TooSlow(BaseException):
    """A test goes on beyond the limit; no Exception, which hypothesis would try again."""


def pytest_addoption(parser):
    """Take the limit and the file."""
    parser.addoption("--limit", type=float, required=True)
    parser.addoption("--passed", type=Path, required=True)


def limited(item):
    """Break a set-up or a test off: a mutant's run goes through both again."""

    def stop(*_):
        raise TooSlow

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, item.config.getoption("--limit"))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


pytest_runtest_setup = pytest.hookimpl(wrapper=True)(limited)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(limited)


def pytest_runtest_logreport(report):
    """Note the time of a test that passed."""
    if report.when == "call" and report.passed:
        TOOK[report.nodeid] = report.duration


def pytest_sessionfinish(session):
    """Write the tests that passed."""
    chosen = sorted(TOOK, key=TOOK.get)
    session.config.getoption("--passed").write_text("".join(f"{id}\n" for id in chosen))
