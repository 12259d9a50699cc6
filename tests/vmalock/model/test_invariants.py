"""What holds of every run: nothing is lost, nothing stays locked, Little's law, each refusal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.numerics import GOLDEN, splitmix64
from lorelab.vmalock.model import events, rwsem, writer
from lorelab.vmalock.model.operation import bucket, start
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import (
    COUNT,
    COUNTERS,
    EITHER,
    NEVER,
    NONE,
    PROGRAM,
    WRITE,
    U,
    machine,
)
from lorelab.vmalock.params import Variant
from tests.vmalock.model.test_oracle import COSTS


def made(variant, cpus, threads, vmas, rows, stop=1_000_000, seed=1, **costs):
    program = np.zeros(threads, PROGRAM)
    for t in range(threads):
        for name, value in ({"kind": int(EITHER), "spread": 1} | rows[t]).items():
            program[t][name] = value
    spans = np.array([(t, t + 1, 2**60, 0) for t in range(threads)], np.uint64)
    whole = COSTS | {"slice": 3_000_000} | costs
    return machine(whole, variant, cpus, vmas, program, spans, stop, seed, 5_000_000)


def counted(m):
    return {name: int(m.count[COUNT[name]]) for name in COUNTERS}


@st.composite
def machines(draw):
    threads, vmas = draw(st.integers(1, 16)), draw(st.integers(1, 5))
    rows = [
        {
            "vma": draw(st.integers(0, vmas - 1)),
            "marks": draw(st.integers(0, vmas)),
            "body": draw(st.integers(50, 5000)),
            "hold": draw(st.integers(50, 5000)),
            "tail": draw(st.sampled_from([0, 1000])),
            "think": draw(st.integers(0, 2000)),
            "fresh": draw(st.integers(0, 1)),
            "share": draw(st.sampled_from([0, 2**26, 2**30, 2**32])),
        }
        for _ in range(threads)
    ]
    return made(
        draw(st.sampled_from(list(Variant))),
        draw(st.integers(1, 8)),
        threads,
        vmas,
        rows,
        seed=draw(st.integers(0, 2**32 - 1)),
        slice=draw(st.sampled_from([3_000_000, 20_000])),
        handoff=draw(st.sampled_from([4_000_000, 5000])),
    )


def ends_well(m):
    """What must hold of any run."""
    assert run(m), "a thread waits for ever"
    found = counted(m)
    assert found["faults"] + found["writes"] == found["started"]
    assert found["vma"] + found["mmap"] == found["faults"]
    refused = sum(found[name] for name in ("abort_early", "abort_trylock", "abort_late", "retry"))
    if m.globals["vma_read_lock"][0] or m.globals["speculative"][0]:
        assert refused == found["mmap"]
    assert m.fault_latency.sum() == found["faults"]
    assert m.write_latency.sum() == found["writes"]
    assert not m.sem["readers"].any()
    assert not m.sem["handoff"].any()
    for held in (m.sem["writer"], m.sem["waiter_head"], m.sem["osq_head"]):
        assert (held == NONE).all()
    assert int(m.globals["idle"][0]) == int(m.globals["cpus"][0])
    assert m.globals["readers_waiting"][0] == m.globals["writers_waiting"][0] == 0
    assert int(m.globals["reader_area"][0]) == found["reader_wait"]
    assert int(m.globals["writer_area"][0]) == found["writer_wait"]


@given(machines())
@settings(max_examples=150)
def test_what_begins_ends_and_lets_go(m):
    ends_well(m)


@pytest.mark.parametrize("variant", Variant)
def test_a_short_run_ends_and_lets_go(variant):
    """Six threads on three CPUs, a slice of 20 us and a hand-off after 5 us."""
    row = {"marks": 2, "body": 900, "hold": 1500, "think": 500, "fresh": 1, "share": 2**31}
    rows = [row | {"vma": t % 3, "tail": 700 * (t % 2)} for t in range(6)]
    m = made(variant, 3, 6, 3, rows, stop=60_000, slice=20_000, handoff=5000)
    ends_well(m)
    found = counted(m)
    assert found["faults"] > 10 < found["writes"]
    assert found["run_wait"] > 0


@given(machines())
@settings(max_examples=80)
def test_littles_law(m):
    """Area under the number of those that wait = their number times their mean wait."""
    run(m)
    found = counted(m)
    assert int(m.globals["reader_area"][0]) == found["reader_wait"]
    assert int(m.globals["writer_area"][0]) == found["writer_wait"]


def test_a_seed_repeats_and_another_one_differs():
    rows = [{"body": 1000, "hold": 2000, "think": 300, "share": 2**28, "marks": 1}] * 6
    runs = []
    for seed in (1, 1, 2):
        m = made(Variant.V6_12, 4, 6, 1, rows, seed=seed)
        run(m)
        runs.append(counted(m))
    assert runs[0] == runs[1] != runs[2]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 50)), max_size=60))
@settings(max_examples=60)
def test_the_tournament_is_a_sorted_list(sets):
    m = made(Variant.V6_12, 1, 7, 1, [{}] * 7)
    due = {}
    for number, (thread, time) in enumerate(sets):
        if time == 50:
            events.never(m, U(thread))
            due.pop(thread, None)
        else:
            events.at(m, U(thread), U(time))
            due[thread] = (time, number)
    found = []
    while events.first(m)[0] != NEVER:
        time, thread = events.first(m)
        found.append((int(time), int(thread)))
        events.never(m, U(thread))
    assert found == [(due[t][0], t) for t in sorted(due, key=due.get)]


def test_buckets_are_contiguous_and_within_3_percent():
    values = sorted({int(2**n * f) for n in range(37) for f in (1, 1.01, 1.37, 1.99)})
    found = [int(bucket(U(value))) for value in range(5000)]
    assert found == sorted(found)
    assert set(np.diff(found)) <= {0, 1}
    from lorelab.vmalock.model.tally import bounds

    for value in values:
        low = bounds()[int(bucket(U(value)))]
        assert low <= value < max(low + 1, low * 1.032)


def rwsem_of(threads, **costs):
    m = made(Variant.MMAP_LOCK, threads, threads, 1, [{}] * threads, **costs)
    for t in range(threads):
        m.task["cpu"][t] = U(t)
    m.globals["idle"] = 0
    return m


SEM = U(0)


def test_readers_share_and_a_waiting_writer_stops_new_ones():
    m = rwsem_of(4)
    assert rwsem.down_read(m, SEM, U(0))
    assert rwsem.down_read(m, SEM, U(1))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_write(m, SEM, U(2))
    assert not rwsem.down_read_trylock(m, SEM)
    assert not rwsem.down_read(m, SEM, U(3))
    assert counted(m)["sleep_reader"] == counted(m)["sleep_writer"] == 1


def test_all_waiting_readers_pass_the_writer_between_them():
    m = rwsem_of(5)
    assert rwsem.down_write(m, SEM, U(0))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_read(m, SEM, U(1))
    assert not rwsem.down_write(m, SEM, U(2))
    assert not rwsem.down_read(m, SEM, U(3))
    rwsem.up_write(m, SEM, U(0))
    assert m.sem["readers"][0] == 2
    assert m.sem["waiter_head"][0] == 2


def test_a_batch_is_256_readers():
    m = rwsem_of(300)
    assert rwsem.down_write(m, SEM, U(0))
    for t in range(1, 300):
        assert not rwsem.down_read(m, SEM, U(t))
    rwsem.up_write(m, SEM, U(0))
    assert m.sem["readers"][0] == 256


@pytest.mark.parametrize("late", [False, True])
def test_a_writer_that_waited_4_ms_ends_stealing(late):
    m = rwsem_of(3)
    assert rwsem.down_read(m, SEM, U(0))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_write(m, SEM, U(1))
    m.globals["now"] = 4_000_001 if late else 4_000_000
    assert not rwsem.rwsem_try_write_lock(m, SEM, U(1))
    assert bool(m.sem["handoff"][0]) == late
    m.sem["readers"][0], m.sem["reader_owned"][0], m.sem["nonspinnable"][0] = 0, 0, 0
    # a spinner would take it now
    m.task["spins_on"][2], m.sem["osq_head"][0], m.sem["osq_tail"][0] = 0, 2, 2
    assert rwsem.spin(m, SEM, U(2)) != late


def test_who_sleeps_at_a_vma_does_not_sleep_at_mmap_lock():
    m = rwsem_of(2)
    one = U(1)
    assert rwsem.down_read(m, one, U(0))
    m.sem["nonspinnable"][1] = 1
    assert not rwsem.down_write(m, one, U(1))
    found = counted(m)
    assert (found["vma_sleep"], found["sleep_writer"], found["sleep_reader"]) == (1, 0, 0)


def one_was_woken():
    """A writer that sleeps first in the queue of a semaphore which is free again."""
    m = rwsem_of(4)
    assert rwsem.down_write(m, SEM, U(0))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_write(m, SEM, U(1))
    rwsem.up_write(m, SEM, U(0))
    assert (m.sem["writer"][0], m.sem["waiter_head"][0]) == (NONE, 1)
    return m


def test_a_reader_that_steals_owns_the_semaphore():
    m = one_was_woken()
    assert rwsem.down_read(m, SEM, U(2))
    assert (m.sem["readers"][0], m.sem["reader_owned"][0], m.sem["owner"][0]) == (1, 1, NONE)
    assert counted(m)["steal"] == 1
    assert not rwsem.rwsem_try_write_lock(m, SEM, U(1))


@pytest.mark.parametrize("others", [0, 1])
def test_a_reader_steals_behind_readers_only_from_none(others):
    """Readers owned it last, and a writer waits: rwsem_down_read_slowpath() counts its own, too."""
    m = rwsem_of(4)
    assert rwsem.down_read(m, SEM, U(0))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_write(m, SEM, U(1))
    m.sem["readers"][0] = others
    assert m.sem["reader_owned"][0] == 1
    assert rwsem.down_read(m, SEM, U(2)) == (not others)
    assert counted(m)["steal"] == 1 - others


def test_a_writer_that_may_not_spin_takes_a_free_semaphore_from_the_queue():
    m = one_was_woken()
    m.sem["nonspinnable"][0] = 1
    assert rwsem.down_write(m, SEM, U(2))
    assert m.sem["writer"][0] == 2
    # The other one is still the first, and the only one, that waits.
    assert (m.sem["waiter_head"][0], m.sem["waiter_tail"][0]) == (1, 1)
    assert m.task["follower"][1] == NONE


@pytest.mark.parametrize("late", [False, True])
def test_a_reader_that_a_writer_was_faster_than_is_not_let_in(late):
    """rwsem_mark_wake() notes after 4 ms that it wants to be next."""
    m = rwsem_of(2)
    assert rwsem.down_write(m, SEM, U(0))
    assert not rwsem.down_read(m, SEM, U(1))
    m.globals["now"] = 4_000_001 if late else 4_000_000
    rwsem.rwsem_mark_wake(m, SEM, rwsem.READERS, U(0))
    assert (m.sem["readers"][0], m.sem["writer"][0], m.sem["waiter_head"][0]) == (0, 0, 1)
    assert m.sem["handoff"][0] == late


@pytest.mark.parametrize("more", [0, 1])
def test_an_operation_writes_where_what_is_drawn_lies_below_its_share(more):
    drawn = int(splitmix64(U(1) + GOLDEN)) >> 32
    m = made(Variant.V6_12, 1, 1, 1, [{"share": drawn + more, "body": 100, "marks": 1}])
    m.task["cpu"][0] = 0
    start(m, U(0))
    assert (m.task["writing"][0] == WRITE) == bool(more)


def test_writers_spin_only_while_the_owner_runs():
    m = rwsem_of(3)
    assert rwsem.down_write(m, SEM, U(0))
    assert not rwsem.down_write(m, SEM, U(1))
    assert m.task["spins_on"][1] == 0
    m.task["cpu"][0] = NONE
    assert not rwsem.down_write(m, SEM, U(2))
    assert m.task["spins_on"][2] == NONE
    assert counted(m)["sleep_writer"] == 1
    # Who spins already gives up at its next look.
    assert not rwsem.spin(m, SEM, U(1))
    assert m.task["spins_on"][1] == NONE


@pytest.mark.parametrize(("readers", "us"), [(1, 10.5), (29, 24.5), (30, 25), (31, 25), (200, 25)])
def test_who_spins_on_readers_gives_up_after_10_us_and_a_half_for_each(readers, us):
    """rwsem_rspin_threshold(): of no more than 30 readers."""
    m = rwsem_of(3)
    m.sem["readers"][0], m.sem["reader_owned"][0] = readers, 1
    m.task["spins_on"][1], m.sem["osq_head"][0], m.sem["osq_tail"][0] = 0, 1, 1
    m.globals["now"] = 700
    for later, spins in ((0, True), (us * 1000 - 1, True), (us * 1000, False)):
        m.globals["now"] = 700 + int(later)
        assert not rwsem.spin(m, SEM, U(1))
        assert (m.task["spins_on"][1] == 0) == spins
    assert m.sem["nonspinnable"][0] == 1


@pytest.mark.parametrize(("before", "after"), [(2**31 - 1, 2**31), (2**32 - 1, 0)])
def test_the_sequence_has_32_bits(before, after):
    m = rwsem_of(1)
    m.globals["mm_seq"] = before
    writer._write_sequence(m, U(0), U(0))
    assert m.globals["mm_seq"][0] == after
