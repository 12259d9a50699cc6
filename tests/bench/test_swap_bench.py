"""The benchmark compares like with like: C, numba and plain Python give the same offsets."""

import shutil

import numpy as np
import pytest

from bench.compare import apart
from bench.swap import implementations, replay
from bench.swap.events import churn
from bench.swap.tables import same
from lorelab.errors import RunFailed

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@needs_gcc
@pytest.mark.parametrize(
    ("pages", "cpus", "weights", "full"),
    [
        (16384, 4, {0: 0.5, 2: 0.2, 4: 0.28, 9: 0.02}, 0.9),
        (1030, 2, {0: 0.6, 1: 0.2, 3: 0.2}, 1.3),
        (34 * 512 + 77, 1, {4: 0.9, 8: 0.1}, 1.1),
        (2048, 3, {0: 1.0}, 1.2),
    ],
)
def test_all_three_agree(pages, cpus, weights, full):
    events = churn(pages, 4000, cpus, weights, full, seed=1)
    expected, _ = implementations.run_python(pages, cpus, events)
    assert expected.any()
    library = implementations.load_c()
    assert implementations.run_c(library, pages, cpus, events)[0].tolist() == expected.tolist()
    assert implementations.run_numba(pages, cpus, events)[0].tolist() == expected.tolist()


def test_a_difference_ends_the_run():
    with pytest.raises(RunFailed, match="allocation 1 is offset 2 in C, 3 in numba"):
        same("trace", "numba", np.array([1, 2]), np.array([1, 3]))


def test_the_log_played_again_is_what_the_load_asked_for(monkeypatch):
    # `measured` itself raises where the device reads other slots the second time.
    monkeypatch.setattr(replay, "FOLIOS", 3000)
    assert replay.measured("v6.12", 2, [])["allocations"] > 3000
    played = replay._play
    monkeypatch.setattr(replay, "_play", lambda si, log: played(si, log[: len(log) // 2]))
    with pytest.raises(RunFailed, match="reads other slots"):
        replay.measured("v6.12", 2, [])


def test_a_log_that_is_too_short_ends_the_run(monkeypatch):
    """Pages of folios that are split are calls of their own: more than one a folio."""
    monkeypatch.setattr(replay, "FOLIOS", 100)
    monkeypatch.setattr(replay, "CALLS", 1)
    with pytest.raises(RunFailed, match=r"100 folios make \d+ calls; the log has room for 100"):
        replay.measured("v6.10", 2, [])


@pytest.mark.parametrize("under", [(), ("sh", "-c", '"$@"; exit 0', "sh")])
def test_a_job_that_is_killed_ends_the_run(under):
    kills_itself = ("timeit", "-n1", "-r1", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(RunFailed, match="failed: "):
        apart(*kills_itself, under=under)
