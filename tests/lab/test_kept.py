"""Every recorded run under data/kernel is as recorded, those that a later one replaced too."""

import pytest

from lorelab.errors import BadInput
from lorelab.lab import cache, records

PROVENANCES = sorted(records.FOLDER.rglob("*.json"))


def check(provenance):
    """Refuse a record whose JSON or CSV was touched, or that lacks its CSV."""
    kept = records.unseal(provenance)
    assert cache.digest(provenance.with_suffix(".csv").read_bytes()) == kept.counters_sha256
    assert provenance.parent.relative_to(records.FOLDER).as_posix() == kept.provenance.experiment


@pytest.mark.parametrize("provenance", PROVENANCES, ids=lambda file: file.stem)
def test_a_record_is_as_it_was_written(provenance):
    check(provenance)


def test_no_counters_are_kept_without_their_provenance():
    counters = {file.with_suffix(".json") for file in records.FOLDER.rglob("*.csv")}
    assert counters == set(PROVENANCES) and len(counters) > 100


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_record_that_was_touched_is_refused(tmp_path, monkeypatch, suffix):
    kept = PROVENANCES[0]
    home = tmp_path / kept.parent.relative_to(records.FOLDER)
    home.mkdir(parents=True)
    for end in (".csv", ".json"):
        (home / kept.name).with_suffix(end).write_bytes(kept.with_suffix(end).read_bytes())
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    check(home / kept.name)
    touched = (home / kept.name).with_suffix(suffix)
    touched.write_text(touched.read_text().replace("1", "2", 1))
    with pytest.raises((AssertionError, BadInput)):
        check(home / kept.name)
