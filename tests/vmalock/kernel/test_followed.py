"""Recorded logs: every step is the model's, and one that is not is seen."""

import base64
import zlib

import numpy as np
import pandas as pd
import pytest

from lorelab.agreement import Verdict
from lorelab.lab import records
from lorelab.vmalock.agree.followed import agree, followed
from lorelab.vmalock.kernel.followed import COLUMNS, ENTRY, laid_out
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
    assert found.verdict is Verdict.PASSED, found.judged
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
            told, _ = followed(changed(log, event, values))
            seen += (told["judged"] == "other").any()
    assert seen


def written(*steps):
    """A log by hand: event, task, VMA, and the mm's sequence as the step read it."""
    rows = [dict(zip(("event", "task", "vma", "mm_lock_seq"), step, strict=True)) for step in steps]
    return pd.DataFrame(rows).assign(vm_lock_seq=0)


def judged(*steps):
    told, _ = followed(written(*steps))
    return told["judged"].to_list()


def test_a_wait_ends_with_the_last_reader():
    steps = [
        *(("mmap_read", 3, 0, 2), ("mmap_read_end", 3, 0, 2), ("locked", 2, 1, 2)),
        *(("mmap_write", 1, 0, 3), ("wait", 1, 1, 3)),
    ]
    assert set(judged(*steps, ("unlocked", 2, 1, 3), ("waited", 1, 1, 3))) == {"same"}
    assert judged(*steps, ("waited", 1, 1, 3)) == ["same"] * 5 + ["other"]


def test_who_reads_beside_a_writer_is_seen():
    writer = ("mmap_write", 1, 0, 3)
    assert judged(writer, ("mmap_read", 2, 0, 3)) == ["same", "other"]
    assert judged(writer, ("mmap_write_end", 1, 0, 3), ("mmap_read", 2, 0, 4)) == ["same"] * 3


def test_what_reads_the_sequence_before_it_is_counted_up_is_counted():
    steps = [("mmap_write", 1, 0, 3), ("mmap_write_end", 1, 0, 3), ("no_vma", 2, 0, 3)]
    for last, between in ((4, 1), (3, 2)):
        told, found = followed(written(*steps, ("no_vma", 3, 0, last)))
        assert set(told["judged"]) == {"same"}
        assert found == between


def test_what_reads_the_sequence_before_the_writer_says_so_is_counted():
    told, found = followed(
        written(("no_vma", 2, 0, 2), ("no_vma", 3, 0, 3), ("mmap_write", 1, 0, 3))
    )
    assert set(told["judged"]) == {"same"}
    assert found == 1


def test_a_log_is_laid_out_as_the_kernel_wrote_it():
    entries = np.zeros(3, ENTRY)
    entries["event"] = [16, 6, 7]
    entries["vma"] = [0, 0xFFFF888004, 0xFFFF888004]
    entries["task"] = [40, 41, 41]
    packed = zlib.compress(entries.tobytes())
    pieces = [base64.b64encode(part).decode() for part in (packed[:5], packed[5:])]
    table = laid_out(pieces)
    assert list(table.columns) == COLUMNS
    assert list(table["event"]) == ["mmap_write", "locked", "unlocked"]
    assert list(table["vma"]) == [0, 1, 1]
    assert list(table["task"]) == [1, 2, 2]
