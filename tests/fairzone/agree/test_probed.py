"""A probe that counts one page more or less than the patch is seen."""

import pytest

from lorelab.counters import table
from lorelab.fairzone.agree.probed import IDENTITIES, PAIRS, PENDING, agree, pending
from lorelab.fairzone.params import Probed
from lorelab.lab.records import Record

LOST = "zones.lost"


def record(wrong: str | None = None, by: int = 0) -> Record:
    said = {LOST: ("events", [0])}
    for number, (probe, (name, unit)) in enumerate(PAIRS.items(), start=1):
        said[probe] = (unit, [1000 * number + (by if probe == wrong else 0)])
        said[name] = (unit, [1000 * number])
    return Record(table("fairzone/probed", "baseline", "kernel", said, first=0), None)


def test_equal_counters_pass():
    found = agree(Probed(), record())
    assert found.verdict == "passed"
    assert found.method.startswith("4 of 4 counters of the probe")
    assert found.table.loc[found.table["verdict"] == "identity", "counter"].tolist() == list(
        IDENTITIES
    )
    counts = found.table[["probe", "kernel"]].to_csv(index=False).split()[1:]
    assert counts == [f"{n}000,{n}000" for n in range(1, 7)], "counts are whole numbers"


@pytest.mark.parametrize("probe", PAIRS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_one_page_more_than_a_cpu_keeps_is_seen(probe, sign):
    kept = pending(Probed()) if probe in PENDING else 0
    assert agree(Probed(), record(probe, sign * kept)).verdict == "passed"
    found = agree(Probed(), record(probe, sign * (kept + 1)))
    assert found.verdict == "failed"
    assert found.table.set_index("counter").index[~found.table["agrees"]].tolist() == [probe]


def test_a_probe_that_ran_and_counted_nothing_fails_and_where_nothing_was_nothing_is_shown():
    counters = record().counters
    silent = counters[~counters["counter"].isin(PAIRS)]
    assert agree(Probed(), Record(silent, None)).verdict == "failed"
    assert agree(Probed(), Record(counters.assign(value=0), None)).verdict == "undecided"


def test_what_a_probe_leaves_out_is_none_and_a_probe_that_did_not_run_decides_nothing():
    full = record().counters
    full.loc[full["counter"] == "allocated_0_dma", "value"] = 0
    left_out = full[full["counter"] != "zones.pages_0_0"]
    assert agree(Probed(), Record(left_out, None)).verdict == "passed"
    found = agree(Probed(), Record(left_out[left_out["counter"] != LOST], None))
    assert found.verdict == "undecided"
    assert found.table["probe"].isna().all() and not found.table["agrees"].any()


@pytest.mark.parametrize(("refaults", "verdict"), [(160, "passed"), (159, "undecided")])
def test_what_cpus_keep_is_what_would_not_have_been_refused(refaults, verdict):
    """16 pages of 160 are 10 %."""
    counters = record().counters
    both = counters["counter"].isin(("zones.refaults", "workingset_refault_file"))
    counters.loc[both, "value"] = refaults
    found = agree(Probed(), Record(counters, None))
    assert found.verdict == verdict
    rows = found.table.set_index("counter")["detectable"]
    assert rows["zones.refaults"] == pending(Probed()) / refaults
    assert not rows.drop("zones.refaults").any()


def test_what_cpus_keep_by_hand():
    """512 MiB are 4 units of 128 MiB: 2 * 1 * (1 + 3), when the run begins and when it ends."""
    assert pending(Probed(mib=512, cpus=1)) == 16
