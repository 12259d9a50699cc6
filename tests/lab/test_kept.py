"""Every recorded run under data/kernel is as recorded, those that a later one replaced too."""

from collections import defaultdict

import pytest

from lorelab.errors import BadInput
from lorelab.lab import build, cache, recipes, records

PROVENANCES = sorted(records.FOLDER.rglob("*.json"))


def images():
    """Of each digest of a kernel built here, the images that records name."""
    found = defaultdict(set)
    for file in PROVENANCES:
        kernel = records.unseal(file).provenance.kernel
        if kernel.digest:
            found[kernel.digest].add(kernel.image_sha256)
    return found


def check(provenance):
    """Refuse a record whose JSON or CSV was touched, or that lacks its CSV."""
    kept = records.unseal(provenance)
    assert cache.digest(provenance.with_suffix(".csv").read_bytes()) == kept.counters_sha256
    assert provenance.parent.relative_to(records.FOLDER).as_posix() == kept.provenance.experiment


def test_each_record_is_as_it_was_written():
    touched = []
    for provenance in PROVENANCES:
        try:
            check(provenance)
        except (AssertionError, BadInput, OSError, ValueError) as error:
            touched.append(f"{provenance.relative_to(records.FOLDER)}: {error!r}")
    assert touched == []


def test_no_counters_are_kept_without_their_provenance():
    counters = {file.with_suffix(".json") for file in records.FOLDER.rglob("*.csv")}
    assert counters == set(PROVENANCES) and len(counters) > 100


def test_a_digest_names_one_image():
    found = images()
    assert len(found) > 10 and all(len(each) == 1 for each in found.values())


@pytest.mark.parametrize("design", cache.designs())
def test_a_kernel_built_here_is_that_of_the_records_bit_for_bit(patched, design):
    """In whatever folder: nothing is in an image but what its digest names."""
    kernels = patched(design), build.built(recipes.recipe(design, patched=False))
    recorded = images()
    for ours in (kernel.info for kernel in kernels):
        # No record is of another compiler's kernel.
        assert recorded[ours.digest] <= {ours.image_sha256}


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
