"""Recorded runs under the probe: its counters are the patch's, and it saw what it is for."""

import pytest

from lorelab.fairzone.agree.probed import agree
from lorelab.fairzone.pages import kernel_views as views

RUNS = views.recorded("fairzone/probed")


def test_a_run_is_recorded():
    assert RUNS


@pytest.mark.parametrize(("params", "record"), RUNS, ids=[params.mode for params, _ in RUNS])
def test_the_probe_counts_what_the_patch_counts(params, record):
    found = agree(params, record)
    assert found.verdict == "passed", found.table.to_string()
    said = record.counters.set_index("counter")["value"]
    assert said["zones.lost"] == 0
    assert said.filter(like="zones.wakeups").sum() > said["pageoutrun"]
    # A walk in vain is an entry of the slow path, or one of its further walks.
    assert said["zones.walks_0"] >= said["zones.slow"]
