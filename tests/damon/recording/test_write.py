"""A run of the model written as damo writes, read back; and the notebook that reads recordings."""

from pathlib import Path

import numpy as np
import pytest

from lorelab.damon.params import Masim
from lorelab.damon.recording import recording, write
from lorelab.errors import BadInput
from lorelab.running import rerun

ROOT = Path(__file__).parents[3]


NOTEBOOK = ROOT / "notebooks/damon/recording.ipynb"


def test_the_committed_recording_is_what_the_model_gives(tmp_path):
    file = tmp_path / "again"
    write.write(Masim(workload="zigzag-30secs"), 300, file)
    [again] = recording.read(file)
    [kept] = recording.read(ROOT / "data/recordings/zigzag-30secs.damon.data")
    assert again.intervals == kept.intervals and len(kept.end) == 300
    for name in ("start", "end", "first", "low", "high", "nr_accesses", "age"):
        assert np.array_equal(getattr(again, name), getattr(kept, name))


def test_a_file_is_found_from_where_the_reader_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.data").write_bytes(b"x")
    (tmp_path / "zigzag").write_bytes(b"x")
    assert rerun.checked(NOTEBOOK, {"recording": "mine.data"}) == {
        "recording": str(tmp_path / "mine.data")
    }
    # A word that is no path stays one, whatever lies about.
    assert rerun.checked(NOTEBOOK, {"recording": "zigzag"}) == {"recording": "zigzag"}


def test_a_bad_recording_is_one_line_and_nothing_is_written(tmp_path):
    bad = tmp_path / "bad.data"
    bad.write_bytes((ROOT / "data/recordings/zigzag-30secs.damon.data").read_bytes()[:-50])
    out = tmp_path / "out.ipynb"
    with pytest.raises(BadInput) as refused:
        rerun.run(NOTEBOOK, {"recording": str(bad)}, out)
    assert "cut short" in str(refused.value) and "\n" not in str(refused.value)
    assert not out.exists()
