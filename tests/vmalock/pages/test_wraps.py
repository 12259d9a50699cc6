"""The shortest interleavings of a fault and a writer whose VMA has a number a whole wrap old."""

import pytest

from lorelab.params import label
from lorelab.vmalock.pages import wraps
from lorelab.vmalock.params import Variant


@pytest.fixture(scope="module")
def met():
    return wraps.meetings()


def test_there_is_one_of_each_writer_and_version_as_long_as_the_table_says(met):
    lengths = wraps.old_marks((Variant.V6_12, Variant.V7_3))
    assert set(met) == set(lengths.index)
    for variant, broken in wraps.BROKEN.items():
        for writer, rule in broken.items():
            at = label(variant), writer
            assert str(len(met[at])) == lengths.loc[at, rule.name]


def test_in_each_the_writer_takes_the_vma_for_write_locked_beside_a_reader(met):
    """It compares the numbers once they are equal, and neither waits nor marks."""
    for steps in met.values():
        at = steps.set_index("statement")
        compared = at.loc["__is_vma_write_locked"]
        assert compared["mm_lock_seq"] == compared["vm_lock_seq"] == 7
        assert at["mm_lock_seq"].iloc[0] == 6
        assert (at["exclusive"] == 0).all() and (at["vm_lock_seq"] == 7).all()
        entered = (
            "down_read_trylock" if "down_read_trylock" in at.index else "refcount_inc_not_zero"
        )
        assert at.loc[entered, "step"] < compared["step"]
        assert compared["count"] == at.loc[entered, "count"] == at["count"].iloc[0] + 1


def test_a_fork_copies_around_the_faults_store(met):
    for (_, writer), steps in met.items():
        if writer == "fork":
            at = steps.set_index("statement")["step"]
            pages = [at[f"copy_present_pte of page {n}"] for n in (0, 1)]
            assert pages[0] < at["set_pte"] < pages[1]
