"""A probe that counts one page more or less than the patch is seen."""

import pytest

from lorelab.counters import table
from lorelab.fairzone.agree.probed import PAIRS, TOLD, agree
from lorelab.fairzone.params import Probed
from lorelab.lab.records import Record


def record(wrong: str | None = None, by: int = 0) -> Record:
    said = {}
    for number, (probe, (name, unit)) in enumerate(PAIRS.items(), start=1):
        said[probe] = (unit, [1000 * number + (by if probe == wrong else 0)])
        said[name] = (unit, [1000 * number])
    return Record(table("fairzone/probed", "baseline", "kernel", said, first=0), None)


def test_equal_counters_pass():
    found = agree(Probed(), record())
    assert found.verdict == "passed"
    assert found.judged.startswith("4 of 4 counters of the probe")
    assert found.table.loc[found.table["told"], "counter"].tolist() == list(TOLD)


@pytest.mark.parametrize("probe", PAIRS)
@pytest.mark.parametrize("by", [-1, 1])
def test_one_page_is_seen(probe, by):
    found = agree(Probed(), record(probe, by))
    assert found.verdict == "failed"
    assert found.table.set_index("counter").index[~found.table["agrees"]].tolist() == [probe]


def test_a_probe_that_counted_nothing_fails():
    empty = record()
    empty.counters["value"] = 0
    assert agree(Probed(), empty).verdict == "failed"
