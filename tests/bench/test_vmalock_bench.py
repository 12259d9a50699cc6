"""The yardstick in C does what the performance model does, event for event."""

import pytest

from bench.vmalock import events
from lorelab.errors import RunFailed
from lorelab.vmalock.params import Contention


def params(**given):
    return Contention(vmas=given["threads"], cpus=given["threads"], writer_share=0, ms=1, **given)


@pytest.mark.parametrize("threads", [1, 3, 8, 33])
@pytest.mark.parametrize(("seed", "think_ns"), [(1, 2000), (2, 100)])
def test_c_counts_what_the_model_counts(threads, seed, think_ns):
    assert events._in_c(params(threads=threads, seed=seed, think_ns=think_ns)) >= 0


def test_a_model_that_counts_otherwise_is_refused(monkeypatch):
    real = events.costs
    monkeypatch.setattr(events, "costs", lambda given: real(given) | {"walk": 1})
    with pytest.raises(RunFailed, match="C counts"):
        events._in_c(params(threads=3))
