"""Recordings that damo made in the guest."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from lorelab.damon.recording import make as making
from lorelab.damon.recording import recording, report
from lorelab.errors import BadInput

GUEST = Path(__file__).parents[3] / "lib" / "kernel" / "damon" / "guest"


@pytest.fixture(params=making.PLANS)
def made(request):
    return making.FOLDER / request.param


def test_a_recording_is_what_left_the_guest(made, tmp_path):
    told = making.provenance(made.name)
    assert told.kernel.release.startswith("6.12.") and told.guest.packages["damo"]
    (tmp_path / made.name).write_bytes(made.read_bytes()[:-1])
    shutil.copy(making.source(made.name), tmp_path)
    with pytest.raises(BadInput, match="digest differs"):
        making.provenance(made.name, tmp_path)


def test_a_recording_of_a_kernel_knows_the_program(made):
    """One of two ranges of 8 MiB at a time, but for the first second."""
    (found,) = recording.read(made)
    half = np.median(report.working_set(found)[report.SKIPPED :])
    assert half == pytest.approx(8 << 20, rel=0.1)


def test_a_line_of_tracefs_becomes_one_of_perf_script(monkeypatch):
    monkeypatch.syspath_prepend(GUEST)
    perf = importlib.import_module("perf")
    line = "       kdamond.0-71      [000] .....    12.345678: damon_aggregated: target_id=0 "
    line += "nr_regions=1 4096-8192: 3 4"
    (said,) = perf.script(f"# tracer: nop\n#\n{line}\n")
    assert said == (
        "kdamond.0    71 [000] 12.345678: damon:damon_aggregated: target_id=0 nr_regions=1 "
        "4096-8192: 3 4\n"
    )
