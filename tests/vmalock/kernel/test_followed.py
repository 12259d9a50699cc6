"""Recorded logs: every step is the model's, and one that is not is seen."""

import base64
import zlib

import numpy as np
import pandas as pd
import pytest

from lorelab.judging.agreement import SAID_OF, AgreementVerdict
from lorelab.lab import records
from lorelab.vmalock.agree.followed import agree, followed, judge
from lorelab.vmalock.kernel.followed import COLUMNS, ENTRY, log_table
from lorelab.vmalock.params import Followed

RUNS = [
    Followed(mappers=2),
    Followed(mode="shared", mappers=2),
    Followed(mode="merging", mappers=2),
    Followed(mode="shared", faulters=4, mappers=2, delay_us=200),
    Followed(mode="merging", faulters=4, mappers=2, delay_us=200),
]


def recorded(params):
    found = records.load("vmalock/followed", params)
    assert found is not None
    return found


@pytest.mark.parametrize("params", RUNS, ids=str)
def test_each_recorded_run_takes_the_models_path(params):
    record = recorded(params)
    found = agree(params, record)
    assert found.verdict is AgreementVerdict.PASSED, found.method
    assert len(record.counters) > 1000


def changed(log, kind, values):
    """The log with the first step of a kind changed."""
    log = log.copy()
    row = log.index[log["event"] == kind][0]
    for name, value in values.items():
        log.loc[row, name] = value
    return log


@pytest.mark.parametrize(
    ("event", "values"),
    [
        ("locked", {"event": "early"}),
        ("locked", {"event": "trylock"}),
        ("early", {"event": "locked"}),
        ("marked", {"event": "marked_again"}),
        ("marked", {"event": "wait"}),
        ("marked_again", {"event": "marked"}),
        ("wait", {"event": "marked"}),
        ("done", {"event": "mmap"}),
        ("mmap", {"event": "done"}),
        ("mmap_write", {"mm_lock_seq": 1}),
        ("downgrade", {"mm_lock_seq": 2}),
    ],
)
def test_a_step_that_is_not_the_models_is_seen(event, values):
    seen = 0
    for params in RUNS:
        log = recorded(params).counters
        if (log["event"] == event).any():
            replayed, _ = followed(changed(log, event, values))
            seen += (replayed["outcome"] == "other").any()
    assert seen


def written(*steps):
    """A log by hand: event, task, VMA, and the mm's sequence as the step read it."""
    rows = [dict(zip(("event", "task", "vma", "mm_lock_seq"), step, strict=True)) for step in steps]
    return pd.DataFrame(rows).assign(vm_lock_seq=0)


def outcomes(*steps):
    replayed, _ = followed(written(*steps))
    return replayed["outcome"].to_list()


def test_a_wait_ends_with_the_last_reader():
    steps = [
        *(("mmap_read", 3, 0, 2), ("mmap_read_end", 3, 0, 2), ("locked", 2, 1, 2)),
        *(("mmap_write", 1, 0, 3), ("wait", 1, 1, 3)),
    ]
    begins = ["same", "input", *["same"] * 3]
    right = outcomes(*steps, ("unlocked", 2, 1, 3), ("waited", 1, 1, 3))
    assert right == [*begins, "same", "same"]
    assert outcomes(*steps, ("waited", 1, 1, 3)) == [*begins, "other"]


def test_who_reads_beside_a_writer_is_seen():
    writer = ("mmap_write", 1, 0, 3)
    assert outcomes(writer, ("mmap_read", 2, 0, 3)) == ["same", "other"]
    assert outcomes(writer, ("mmap_write_end", 1, 0, 3), ("mmap_read", 2, 0, 4)) == ["same"] * 3


def test_what_reads_the_sequence_before_it_is_counted_up_is_counted():
    steps = [("mmap_write", 1, 0, 3), ("mmap_write_end", 1, 0, 3), ("no_vma", 2, 0, 3)]
    for last, between in ((4, 1), (3, 2)):
        replayed, found = followed(written(*steps, ("no_vma", 3, 0, last)))
        assert replayed["outcome"].to_list() == ["same", "same", "input", "input"]
        assert found == between


def test_what_reads_the_sequence_before_the_writer_says_so_is_counted():
    replayed, found = followed(
        written(("no_vma", 2, 0, 2), ("no_vma", 3, 0, 3), ("mmap_write", 1, 0, 3))
    )
    assert replayed["outcome"].to_list() == ["input", "input", "same"]
    assert found == 1


LATER = (("mmap_write", 3, 0, 5), ("mmap_write_end", 3, 0, 5))
"""Another one marks nothing."""
MARKS = (("mmap_write", 1, 0, 3), ("marked", 1, 1, 3), ("mmap_write_end", 1, 0, 3))
"""A writer marks VMA 1."""


@pytest.mark.parametrize("refused", [True, False])
def test_a_check_beside_a_writers_end_may_read_either_number(refused):
    """`early`, though the entry has the number by which the VMA is free again: both are right."""
    step = ("early" if refused else "locked", 2, 1, 4)
    assert outcomes(*MARKS, step) == ["same", "same", "same", "unordered"]


def test_so_it_may_where_another_writer_has_begun_by_then():
    assert outcomes(*MARKS, ("early", 2, 1, 5))[-1] == "unordered"


@pytest.mark.parametrize(
    ("why", "steps"),
    [
        ("the log has shown the writer's end before", [("no_vma", 3, 0, 4), ("early", 2, 1, 4)]),
        ("a thread knows its own end", [("early", 1, 1, 4)]),
        ("that writer has not marked the VMA", [("early", 2, 2, 4)]),
        ("the sequence has not moved", [("locked", 2, 1, 3)]),
        ("a writer before that one has", [*LATER, ("early", 2, 1, 6)]),
    ],
)
def test_no_other_check_may(why, steps):
    assert outcomes(*MARKS, *steps)[-1] == "other"


def test_each_end_of_a_writer_leaves_one_step_unordered_at_most():
    for params in RUNS:
        replayed, _ = followed(recorded(params).counters)
        ends = replayed["event"].isin(["mmap_write_end", "downgrade"]).sum()
        assert (replayed["outcome"] == "unordered").sum() <= ends / 10


@pytest.mark.parametrize(("was", "put"), [("locked", "early"), ("early", "locked")])
def test_each_read_of_the_sequence_that_is_compared_is_seen_if_it_is_wrong(was, put):
    for params in RUNS[:2]:
        log = recorded(params).counters
        replayed, _ = followed(log)
        free = replayed["outcome"].isin(["open", "unordered"])
        for row in log.index[(log["event"] == was) & ~free][:40]:
            wrong = log.copy()
            wrong.loc[row, "event"] = put
            assert followed(wrong)[0].loc[row, "outcome"] == "other"


def test_who_unlocks_a_vma_has_locked_it():
    lock = ("locked", 2, 1, 2)
    assert outcomes(lock, ("unlocked", 2, 1, 2)) == ["same", "same"]
    assert outcomes(lock, ("unlocked", 3, 1, 2)) == ["same", "other"]
    assert outcomes(lock, ("unlocked", 2, 2, 2)) == ["same", "other"]


def test_compared_same_and_input_are_three_numbers():
    found = agree(RUNS[0], recorded(RUNS[0]))
    table = found.table
    steps, inputs, same = (int(table[name].sum()) for name in ("steps", "input", "same"))
    assert 0 < inputs < steps == len(recorded(RUNS[0]).counters)
    assert f"of {steps} steps {steps - inputs} are compared and {inputs} are inputs" in found.method
    assert f"of those compared {same} are the model's" in found.method
    ends = table.set_index("counter").loc["mmap_read_end"]
    assert ends["input"] == ends["steps"] > 0


@pytest.mark.parametrize("open_ended", ["open", "unordered"])
@pytest.mark.parametrize(("same", "verdict"), [(18, "UNDECIDED"), (19, "PASSED"), (20, "PASSED")])
def test_of_20_compared_steps_one_may_have_two_answers(same, open_ended, verdict):
    """What is an input is no compared step, and makes no run a decided one."""
    steps = ["same"] * same + [open_ended] + ["input"] * 50
    replayed = pd.DataFrame({"event": "locked", "outcome": steps})
    assert judge(replayed, 0).verdict is AgreementVerdict[verdict]


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        (["input"] * 3, "input"),
        (["open", "input"], "timing"),
        (["unordered"], "timing"),
        (["input", "open", "same"], "passed"),
        (["input", "open", "other"], "failed"),
    ],
)
def test_an_event_of_which_no_step_has_one_answer_is_not_judged(steps, verdict):
    outcomes = [("locked", "same")] * 100 + [("trylock", outcome) for outcome in steps]
    found = judge(pd.DataFrame(outcomes, columns=["event", "outcome"]), 0)
    assert found.table.set_index("counter").loc["trylock", "verdict"] == verdict
    assert list(found.judged["counter"]) == ["locked", "trylock"][: 2 - (verdict in SAID_OF)]


def test_a_log_of_inputs_decides_nothing():
    replayed = pd.DataFrame({"event": "locked", "outcome": ["input"] * 50})
    assert judge(replayed, 0).verdict is AgreementVerdict.UNDECIDED


@pytest.mark.parametrize("params", RUNS[-2:], ids=str)
def test_a_log_comes_to_the_same_wherever_its_sequences_stand(params):
    """They have 32 bits: the mm's, or a VMA's, comes to 0 at every place of the log."""
    log = recorded(params).counters[:1500]
    before, between = followed(log)
    seq = log["mm_lock_seq"]
    for at in range(int(seq.min()), int(seq.min()) + 12):
        ahead = 2**32 - at - at % 2
        moved = {name: (log[name] + ahead) % 2**32 for name in ("vm_lock_seq", "mm_lock_seq")}
        after, number = followed(log.assign(**moved))
        assert (after["outcome"] == before["outcome"]).all() and number == between, at


def test_a_log_is_laid_out_as_the_kernel_wrote_it():
    entries = np.zeros(3, ENTRY)
    entries["event"] = [16, 6, 7]
    entries["vma"] = [0, 0xFFFF888004, 0xFFFF888004]
    entries["task"] = [40, 41, 41]
    packed = zlib.compress(entries.tobytes())
    pieces = [base64.b64encode(part).decode() for part in (packed[:5], packed[5:])]
    table = log_table(pieces)
    assert list(table.columns) == COLUMNS
    assert list(table["event"]) == ["mmap_write", "locked", "unlocked"]
    assert list(table["vma"]) == [0, 1, 1]
    assert list(table["task"]) == [1, 2, 2]
