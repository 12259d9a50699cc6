"""Each bound of the model on both its sides: numbers that wrap, what is full, what is empty."""

from collections import deque

import numpy as np
import pytest

from lorelab.checker import explore
from lorelab.vmalock.experiments import wrap
from lorelab.vmalock.model import events, rwsem, sched, writer
from lorelab.vmalock.model.operation import bucket, finish, start
from lorelab.vmalock.model.protocol import configurations, ops, state, steps, wrapping, writers
from lorelab.vmalock.model.protocol.configurations import MODEL
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import BUCKETS, COUNT, MMAP_LOCK, NEVER, NONE, U
from lorelab.vmalock.model.tally import LEAST, UNITS, quantile, tally
from lorelab.vmalock.params import Variant, Wrap
from tests.vmalock.model.protocol import oracle
from tests.vmalock.model.test_invariants import made, rwsem_of


@pytest.mark.parametrize(
    ("so_far", "order"),
    [
        (0, [0, 1, 2, 3, 4]),
        (2**22 - 2, [0, 1, 2, 3, 4]),
        # Those that were set once the numbers had wrapped come first.
        (2**23 - 2, [1, 2, 3, 4, 0]),
        (2**24 - 3, [2, 3, 4, 0, 1]),
    ],
)
def test_a_time_stays_what_it_is_where_the_numbers_that_tell_ties_apart_wrap(so_far, order):
    m = made(Variant.V6_12, 1, 5, 1, [{}] * 5)
    m.globals["sequence"] = so_far
    for thread in range(5):
        events.at(m, U(thread), U(6))
    found = []
    while events.first(m)[0] != NEVER:
        time, thread = events.first(m)
        found.append((int(time), int(thread)))
        events.never(m, U(thread))
    assert found == [(6, thread) for thread in order]


@pytest.mark.parametrize(("ran", "goes"), [(999, False), (1000, True), (1001, True)])
@pytest.mark.parametrize("queued", [0, 1])
def test_a_slice_is_over_where_it_has_been_run_and_another_one_waits(ran, goes, queued):
    m = made(Variant.V6_12, 1, 2, 1, [{"body": 100}] * 2, slice=1000)
    m.globals["idle"], m.globals["queued"], m.globals["now"] = 0, queued, ran
    m.task["cpu"][0], m.queue[0] = 0, 1
    start(m, U(0))
    assert (m.task["cpu"][0] == NONE) == (goes and bool(queued))


@pytest.mark.parametrize("kept", [1, 3])
def test_a_trace_that_is_full_takes_no_more(kept):
    runs = []
    for traced in (kept, 50):
        m = made(Variant.V6_12, 2, 3, 1, [{"body": 100, "share": 2**31}] * 3, stop=5000)
        m.globals["traced"], room = traced, np.zeros((50, 3), np.uint64)
        assert run(m._replace(trace=room[:traced]))
        runs.append(room)
    assert (runs[0][:kept] == runs[1][:kept]).all()
    assert not runs[0][kept:].any() and runs[1][kept:].any()


def test_the_last_bucket_has_all_that_is_longer():
    last = int(LEAST[-1])
    values = (last - 1, last, 2 * last, 2**64 - 1)
    assert [int(bucket(U(value))) for value in values] == [BUCKETS - 2, *[BUCKETS - 1] * 3]


@pytest.mark.parametrize(
    ("share", "number"), [(0.25, 3), (0.5, 3), (0.51, 7), (0.75, 7), (0.76, 9), (1.0, 9)]
)
def test_a_quantile_is_the_least_that_its_share_stays_within(share, number):
    histogram = np.zeros(BUCKETS, np.uint64)
    histogram[[3, 7, 9]] = 2, 1, 1
    assert quantile(histogram, share) == LEAST[number]


def test_a_machine_that_did_nothing_has_rates_of_0():
    found = dict(zip(UNITS, tally(made(Variant.V6_12, 1, 1, 1, [{}])), strict=True))
    assert found.pop("time") == pytest.approx(1e-6)
    assert not any(found.values())


FULL = int(state.COUNT[2])
BALANCED = "balanced"


@pytest.mark.parametrize(
    ("op", "excluded", "counts"),
    [
        (ops.DOWN_READ_TRYLOCK, 0, {0: 1, FULL - 1: FULL, FULL: BALANCED}),
        (ops.DOWN_READ_TRYLOCK, 1, {0: "otherwise", FULL: "otherwise"}),
        (ops.INC_NOT_ZERO, 0, {0: "elsewhere", 1: 2, FULL - 1: FULL, FULL: BALANCED}),
        (ops.INC_NOT_ZERO, 1, {0: "otherwise", FULL: "otherwise"}),
        (ops.UP_READ, 0, {0: BALANCED, 1: "otherwise", 2: "otherwise", FULL: "otherwise"}),
        # The last but a writer, or its last reader, wakes it.
        (ops.PUT, 1, {0: BALANCED, 1: 0, 2: 1, 3: "otherwise", FULL: "otherwise"}),
        (ops.PUT, 0, {0: BALANCED, 1: "otherwise", 2: "otherwise"}),
        (ops.EXCLUDE_READERS, 0, {0: "otherwise", 1: 1, FULL: FULL}),
        (ops.EXCLUDE_READERS, 1, {0: BALANCED, 1: BALANCED}),
        (ops.PUT_ATTACHED, 0, {0: BALANCED, 1: "otherwise", 2: 1}),
        (ops.UP_WRITE, 0, {1: BALANCED}),
        (ops.UP_WRITE, 1, {1: 1}),
    ],
)
def test_a_count_goes_from_none_to_as_many_as_it_holds(op, excluded, counts):
    thread, one = U(0), U(1)
    for before, after in counts.items():
        chosen = configurations.Configuration((("fault", 0),))
        at = configurations.first(Variant.V7_3, chosen, 3)
        told = configurations.setting(Variant.V7_3, chosen, 3)
        state.tput(at, thread, state.VMA, one)
        state.vput(at, one, state.COUNT, U(before))
        state.vput(at, one, state.EXCLUSIVE, U(excluded))
        ended = steps.execute(at, thread, op, U(0), told)
        wrong = int(state.get(at, state.BROKEN))
        assert wrong == (Rule.BALANCED if after == BALANCED else 0), before
        if isinstance(after, int):
            assert (ended, int(state.vget(at, one, state.COUNT))) == (ops.NEXT, after), before
        elif after == BALANCED:
            assert int(state.vget(at, one, state.COUNT)) == before
        else:
            assert ended == (ops.OTHERWISE if after == "otherwise" else ops.ELSEWHERE), before


def compared(world):
    """What `wrapping.count` counts, of all states that the plain search reaches."""
    found, seen, queue = dict.fromkeys(wrapping.COUNTS, 0), {oracle.key(world.first)}, deque()
    queue.append(world.first)
    while queue:
        at = queue.popleft()
        for t, thread in enumerate(at["threads"]):
            step = world.code[t][thread["pc"]]
            vma = at["vmas"].get(thread["second" if step and step.second else "vma"])
            if vma is None or step is None:
                continue
            found["overtaken"] += vma.marked and world.section(at, t)
            if step.op == ops.Op.UNLESS_EQUAL:
                equal = thread["seq"] == at["seq"]
                found["read"] += 1
                found["locked"] += equal
                found["false_locked"] += equal and not vma.marked
                found["false_unlocked"] += bool(step.arg and not equal and vma.marked)
            if step.op == ops.Op.IF_NOT_MARKED:
                found["taken_for_marked"] += vma.seq == at["seq"] and not vma.marked
        for after, broken in world.after(at):
            assert not broken
            if oracle.key(after) not in seen:
                seen.add(oracle.key(after))
                queue.append(after)
    return found


def counted(variant, bits, others, without=frozenset()):
    threads = wrap.chosen(Wrap(others=others))
    told = configurations.setting(variant, threads, bits, without, frozenset())
    begun = configurations.first(variant, threads, bits, without)
    return wrapping.count(explore(MODEL, begun, told).states, told)


@pytest.mark.parametrize("variant", [Variant.V2, Variant.V6_12, Variant.V7_3])
def test_what_is_compared_is_what_a_plain_search_counts(variant):
    threads = wrap.chosen(Wrap(others=0))
    found = counted(variant, 3, 0)
    assert found == compared(oracle.World(variant, threads, 3, frozenset()))
    assert found["read"] > found["locked"] > 0


@pytest.mark.parametrize("variant", [Variant.V6_12, Variant.V7_3])
def test_who_does_not_wait_for_readers_is_told_unlocked_falsely(variant):
    """The counter that is 0 of every whole protocol is not 0 of one that lacks a step."""
    found = counted(variant, 3, 0, frozenset([writers.WAIT]))
    assert found["false_unlocked"] > 0 < found["overtaken"]


def test_who_asks_for_the_semaphore_asks_for_the_first_in_the_queue():
    """The handoff bit is the first waiter's, whoever has waited for too long."""
    m = rwsem_of(4)
    assert rwsem.down_read(m, MMAP_LOCK, U(0))
    m.sem["nonspinnable"][0] = 1
    assert not rwsem.down_write(m, MMAP_LOCK, U(1))
    assert not rwsem.down_write(m, MMAP_LOCK, U(2))
    m.globals["now"] = 4_000_001
    assert not rwsem.rwsem_try_write_lock(m, MMAP_LOCK, U(2))
    assert m.task["handoff_set"].tolist() == [0, 1, 0, 0]


def test_a_writer_does_not_pass_a_reader_that_asked_to_be_next():
    m = rwsem_of(3)
    assert rwsem.down_write(m, MMAP_LOCK, U(0))
    assert not rwsem.down_read(m, MMAP_LOCK, U(1))
    m.task["cpu"][0] = NONE
    assert not rwsem.down_write(m, MMAP_LOCK, U(2))
    m.globals["now"] = 4_000_001
    rwsem.rwsem_mark_wake(m, MMAP_LOCK, rwsem.READERS, U(0))
    m.sem["writer"][0] = m.sem["owner"][0] = NONE
    assert not rwsem.rwsem_try_write_lock(m, MMAP_LOCK, U(2))
    m.task["handoff_set"][1] = m.sem["handoff"][0] = 0
    assert rwsem.rwsem_try_write_lock(m, MMAP_LOCK, U(2))


@pytest.mark.parametrize("sleeping", [255, 256])
def test_a_reader_that_a_full_batch_leaves_out_sleeps(sleeping):
    """It wakes those before it, up to 256 with itself: rwsem_down_read_slowpath()."""
    m = rwsem_of(sleeping + 2)
    assert rwsem.down_write(m, MMAP_LOCK, U(0))
    for thread in range(1, sleeping + 1):
        assert not rwsem.down_read(m, MMAP_LOCK, U(thread))
    m.sem["writer"][0] = m.sem["owner"][0] = NONE
    m.sem["handoff"][0] = 1  # or it would steal
    assert rwsem.down_read(m, MMAP_LOCK, U(sleeping + 1)) == (sleeping < 256)
    assert m.sem["readers"][0] == 256


@pytest.mark.parametrize(
    ("now", "queued", "next_look"),
    [(999, 1, 1000), (1000, 1, None), (1000, 0, 2000), (1001, 0, 2001), (1001, 1, None)],
)
def test_who_spins_looks_when_its_slice_is_over_and_leaves_where_another_one_waits(
    now, queued, next_look
):
    m = made(Variant.MMAP_LOCK, 2, 2, 1, [{}] * 2, slice=1000)
    m.task["cpu"], m.globals["idle"] = [0, 1], 0
    assert rwsem.down_write(m, MMAP_LOCK, U(0))
    m.globals["now"], m.globals["queued"] = now, queued
    m.task["spins_on"][1], m.sem["osq_head"][0], m.sem["osq_tail"][0] = 0, 1, 1
    assert not rwsem.spin(m, MMAP_LOCK, U(1))
    assert (m.task["spins_on"][1] == NONE) == (next_look is None)
    assert events.first(m)[0] == (next_look or NEVER)


@pytest.mark.parametrize(("now", "starts"), [(4999, 1), (5000, 0)])
def test_no_operation_starts_once_the_run_is_over(now, starts):
    m = made(Variant.V6_12, 1, 1, 1, [{"body": 100}], stop=5000)
    m.globals["idle"], m.globals["now"], m.task["cpu"][0] = 0, now, 0
    start(m, U(0))
    assert m.count[COUNT["started"]] == starts
    assert m.task["ended"][0] == (0 if starts else 5000)


@pytest.mark.parametrize(("spread", "drawn"), [(0, 2), (1, 2), (2, 3)])
def test_a_vma_is_drawn_where_there_are_two(spread, drawn):
    """One number is for which operation it is, and one for the time that follows it."""
    m = made(Variant.V6_12, 1, 1, 2, [{"body": 100, "spread": spread}])
    m.globals["idle"], m.task["cpu"][0] = 0, 0
    start(m, U(0))
    assert m.task["drawn"][0] == drawn


def test_the_last_operation_is_the_one_that_ends_last():
    m = made(Variant.V6_12, 2, 2, 1, [{}] * 2)
    finish(m, U(0), U(500))
    finish(m, U(1), U(300))
    assert m.count[COUNT["last"]] == 500


@pytest.mark.parametrize(("since", "runs"), [(100, 1001), (200, 1001), (201, 1002), (700, 1501)])
def test_a_task_gets_a_cpu_no_earlier_than_it_runs(since, runs):
    """It may have been woken, and wait from a time that is still to come; a switch takes 801 ns."""
    m = made(Variant.V6_12, 1, 2, 1, [{}] * 2, switch=801)
    m.globals["idle"], m.globals["now"], m.task["cpu"][0] = 0, 200, 0
    sched.ready(m, U(1), U(since))
    assert events.first(m)[0] == NEVER
    sched.leave(m, U(0))
    assert events.first(m) == (runs, 1)
    assert m.count[COUNT["run_wait"]] == runs - since


def test_the_queue_for_a_cpu_goes_round():
    m = made(Variant.V6_12, 1, 3, 1, [{}] * 3)
    m.globals["idle"], m.task["cpu"][0] = 0, 0
    order = []
    sched.ready(m, U(1), U(0))
    sched.ready(m, U(2), U(0))
    for _ in range(7):
        [runs] = np.flatnonzero(m.task["cpu"] != NONE)
        order.append(int(runs))
        sched.leave(m, U(runs))
        sched.ready(m, U(runs), U(0))
    assert order == [0, 1, 2, 0, 1, 2, 0]
    assert m.globals["head"][0] < 3


@pytest.mark.parametrize(
    ("first", "marks", "order"),
    [(0, 4, [0, 1, 2, 3]), (1, 3, [1, 2, 3]), (2, 3, [0, 2, 3]), (3, 1, [3]), (3, 4, [0, 1, 2, 3])],
)
def test_a_writer_marks_in_the_order_of_addresses(first, marks, order):
    """From the first on and, behind the last VMA, from the lowest on."""
    m = made(Variant.V6_12, 1, 1, 4, [{"marks": marks}])
    m.task["vma"][0] = first
    assert [int(writer.nth(m, U(0), U(n))) for n in range(marks)] == order


@pytest.mark.parametrize("limit", [10, 11])
def test_a_run_ends_with_its_last_event(limit):
    m = made(Variant.V6_12, 1, 1, 1, [{"body": 100}])
    m.globals["limit"] = limit
    assert not run(m)
    assert m.globals["events"][0] == limit
