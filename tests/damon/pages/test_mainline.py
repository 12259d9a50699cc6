"""What the mainline page shows of runs on a 7.3, by other arithmetic."""

import pandas as pd
import pytest

from lorelab.damon.kernel import follow as logs
from lorelab.damon.pages import mainline
from lorelab.damon.params import Masim, Variant
from lorelab.lab import records

FOUND = mainline.recorded()
RELEASE = FOUND[0][0]


def test_a_row_is_its_record():
    tight = [(r, p) for r, p in FOUND if p.max_regions == 40 and p.min_regions == 10]
    assert len(tight) == 2
    for release, params in tight:
        row = mainline.windows(release, params)
        table = records.load(logs.NAME, params, release=release).counters
        given = logs.unpack(table, params)
        sizes = [len(window) for window in given.windows]
        assert row["windows"] == row["equal"] == row["addresses equal"] == len(sizes)
        assert row["checks"] == sum(table.loc[table["window"] > 0, "sampled"]) * 20
        assert (row["least"], row["most"]) == (min(sizes), max(sizes))
        assert row["above half"] == sum(20 < size < 40 for size in sizes) > 30
        assert (row["program"], row["settings"]) == (params.workload, "max_regions=40")
        assert row["splits"] > row["merges"] > 100


def test_the_bound_is_not_above_half():
    """At or above `max_regions` nothing is split."""
    [(release, params)] = [(r, p) for r, p in FOUND if p.min_regions == p.max_regions == 40]
    row = mainline.windows(release, params)
    assert (row["least"], row["most"], row["above half"], row["merges"]) == (42, 42, 0, 0)


def test_at_a_bound_of_20_regions_are_counted_in_each_window():
    seen = mainline.few_regions()
    for release, params in [(None, Masim(**mainline.FEW)), *FOUND]:
        if params.max_regions == 20:
            record = records.load(logs.NAME, params, release=release)
            sizes = [len(window) for window in logs.unpack(record.counters, params).windows]
            row = seen.loc[record.provenance.kernel.release]
            assert (row["windows"], row["least"], row["most"]) == (
                len(sizes),
                min(sizes),
                max(sizes),
            )
    assert len(seen) == 2


def test_all_runs_are_there_in_their_order(monkeypatch):
    rows = iter(
        {"boot": boot, "place": place, "windows": n}
        for n, (boot, place) in enumerate([(2, 1), (1, 2), (1, 1)])
    )
    monkeypatch.setattr(mainline, "recorded", lambda: [("7.3", Masim())] * 3)
    monkeypatch.setattr(mainline, "windows", lambda *_: next(rows))
    assert mainline.all_windows()["windows"].tolist() == [2, 1, 0]
    assert {params.variant for _, params in FOUND} == {Variant.V7_3}


def test_pages_that_nobody_touches_by_a_loop():
    table = records.load(logs.NAME, mainline.FRESH, release=RELEASE).counters
    spans = table[table["window"] == 0].iloc[1:]
    lows = [int(text.split("-")[0], 16) for text in spans["regions"].iloc[:-1]]
    begin, end = spans["us"].iloc[-2:]
    low = (lows[-2] | 4095) + 1
    ends = [0, *table.loc[table["window"] > 0, "us"]]
    expected = []
    for number, line in enumerate(table.loc[table["window"] > 0, "regions"], 1):
        if ends[number - 1] < begin or ends[number] > end:
            continue
        counts = {int(r["start"]): int(r["nr_accesses"]) for r in logs.unpacked(line)}
        mine = [counts[low + page * 4096] for page in range(127)]
        expected.append([sum(n == 0 for n in mine), sum(0 < n < 20 for n in mine), mine.count(20)])
    found = mainline.untouched(RELEASE)
    assert list(found) == ["never", "in some", "in all"]
    assert found.to_numpy().tolist() == expected and len(expected) >= 1


def test_of_what_is_touched_only_the_end_counts():
    """The pages that count are the last ones that were faulted in, one behind the other."""
    table = records.load(logs.NAME, mainline.FRESH, release=RELEASE).counters
    window = logs.unpacked(table["regions"].iloc[-1])
    said = pd.DataFrame({"page": window["start"] // 4096, "count": window["nr_accesses"]})
    spans = table[table["window"] == 0].iloc[1:-1]["regions"]
    low, high = (int(part, 16) // 4096 for part in spans.iloc[-2].split("-"))
    inside = said[said["page"].between(low + 1, high - 1)]
    seen = inside.loc[inside["count"] == 20, "page"]
    assert seen.tolist() == list(range(high - len(seen), high))
    assert len(seen) == pytest.approx(mainline.untouched(RELEASE)["in all"].iloc[-1])
