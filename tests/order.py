"""Files of tests in a random order, those that boot as one stream beside the others.

And what takes turns: evidence that is run again and rests on no code of the library, or on none
that changed since it passed (`tests.turns`).

`tests.conftest` takes these hooks over.
"""

import random
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests import turns
from tests.turns import BOOTS, boots, file_of

ROOT = Path(__file__).parents[1]
BEGUN_EARLY = {
    "tests/browser/test_pages.py",
    "tests/damon/agree/test_accuracy.py",
    "tests/faults/test_places.py",
    "tests/judging/test_figures_weigh.py",
    "tests/new/test_layout.py",
    "tests/running/sweep/test_run.py",
    "tests/swap/model/test_oracle.py",
}
"""Files that take half a minute and more of an idle CPU: begun last, one would be waited for."""
PARTS = 5
DAY = 24 * 60 * 60
"""Seconds."""


def pytest_addoption(parser):
    parser.addoption("--turn", type=int, metavar="SEED", help="a fifth of what takes turns")
    parser.addoption("--order", type=int, metavar="SEED", help="files in a random order")
    parser.addoption("--passed", action="store_true", help=f"write {turns.KEPT}: who passed")


def pytest_configure(config):
    config.addinivalue_line("markers", "boots: takes a kernel of the laboratory; not set by hand")
    config.addinivalue_line(
        "markers", "in_turn: rests on no code of the library; make test runs a fifth of a day each"
    )
    if config.getoption("passed") and not hasattr(config, "workerinput"):
        option = config.getoption
        parts = option("turn") is not None or option("keyword") or "::" in " ".join(config.args)
        if parts or option("markexpr") not in ("", "boots"):
            raise pytest.UsageError("--passed is of whole files: without --turn, -k, -m and ::")
        config.pluginmanager.register(turns.Keep())


def pytest_report_header(config):
    said = []
    if (seed := config.getoption("order")) is not None:
        said.append(f"files in the order of seed {seed}: make test SEED={seed}")
    if (turn := config.getoption("turn")) is not None:
        part = f"part {part_of(turn) + 1} of {PARTS} by the day"
        said.append(f"of tests that take turns {part} (make test-all runs all)")
        same = sorted(turns.passed())
        said.append(f"of {len(same)} long files, which passed on just this, tests take turns")
        said += [f"  {file}" for file in same]
    return said


def pytest_itemcollected(item):
    if not BOOTS.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker("boots")


def part_of(seed):
    """A seed is in seconds since 1970, as for `lorelab.book due`."""
    return seed // DAY % PARTS


def pytest_collection_modifyitems(config, items):
    if (turn := config.getoption("turn")) is not None:
        take_turns(config, items, part_of(turn))
    if (seed := config.getoption("order")) is None:
        return
    files = sorted({file_of(item.nodeid) for item in items})
    random.Random(seed).shuffle(files)
    # Those that boot, then the long ones, then the others.
    files.sort(key=lambda file: (not boots(config.rootpath / file), file not in BEGUN_EARLY))
    items.sort(key=lambda item: files.index(file_of(item.nodeid)))


def take_turns(config, items, part):
    taking = [item for item in items if item.get_closest_marker("in_turn")]
    others = [item for nth, item in enumerate(taking) if nth % PARTS != part]
    same = turns.passed()
    long = [item for item in items if item not in taking and turns.takes_turns(item, same)]
    for file in same:
        of_it = [item for item in long if file_of(item.nodeid) == file]
        parts = min(PARTS, len(of_it))
        others += [item for nth, item in enumerate(of_it) if nth % parts != part % parts]
    left = set(map(id, others))
    items[:] = [item for item in items if id(item) not in left]
    config.hook.pytest_deselected(items=others)


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
