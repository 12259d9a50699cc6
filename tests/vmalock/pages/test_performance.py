"""The tables of the performance page: stretches of time, invariants, regions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.vmalock.pages import performance
from lorelab.vmalock.params import Contention, Variant
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import done

SMALL = Contention(cpus=3, threads=3, vmas=2, writer_share=0.2, ms=1)


def test_stretches_of_a_thread_follow_each_other_without_a_gap():
    found = performance.timeline(SMALL, 100_000)
    for _, mine in found.groupby("thread"):
        assert mine["since"].iloc[0] == 0
        assert mine["till"].iloc[-1] == 100
        assert (mine["since"].to_numpy()[1:] == mine["till"].to_numpy()[:-1]).all()


def test_a_writer_alone_waits_for_nobody():
    alone = SMALL.model_copy(update={"cpus": 1, "threads": 1, "vmas": 1})
    found = performance.timeline(alone, 500_000)
    assert set(found["doing"]) == {"own work", "handles a fault", "changes VMAs"}


def test_the_slider_shows_what_has_happened_so_far():
    found = performance.unfolding(SMALL, 30, 10)
    assert set(found["at"]) == {10, 20, 30}
    assert (found["till"] <= found["at"]).all()
    assert set(found["variant"]) == {"mmap-lock", "v6.12"}


@settings(max_examples=25)
@given(
    variant=st.sampled_from([v for v in Variant if v is not Variant.RANGE]),
    cpus=st.integers(1, 6),
    threads=st.integers(1, 9),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_invariants_hold_of_any_run(variant, cpus, threads, share, seed):
    params = Contention(
        cpus=cpus, threads=threads, vmas=3, writer_share=share, ms=1, seed=seed, variant=variant
    )
    found = performance.balance(done(programs.contention(params)))
    if variant is Variant.MMAP_LOCK:
        # Nobody is refused what nobody tries.
        found = found.drop("faults: refused, under mmap_lock")
    assert (found["counted here"] == found["and there"]).all()


@pytest.mark.parametrize("counter", ["faults", "mmap", "reader_wait"])
def test_a_counter_that_is_off_by_one_breaks_an_invariant(counter):
    from lorelab.vmalock.model.state import COUNT

    machine = done(programs.contention(SMALL))
    machine.count[COUNT[counter]] += np.uint64(1)
    found = performance.balance(machine)
    assert (found["counted here"] != found["and there"]).any()
