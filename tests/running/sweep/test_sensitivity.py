"""What explains the variance of a result, and points that are run again only if they must be."""

import json

import numpy as np
import pandas as pd
import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import experiment, experiments
from lorelab.running.sweep import points, sensitivity

NAME = "swap/allocator-test"
ASKED = ("seed=1:9999", "options=,-a", "device_mib=64")


def linear(number=4096):
    """2 a + b of uniform a and b, and one that nothing depends on: 80 %, 20 %, none."""
    rng = np.random.default_rng(1)
    found = pd.DataFrame(rng.uniform(size=(number, 3)), columns=["none", "b", "a"])
    return found.assign(held=1, result=2 * found["a"] + found["b"])


def test_shares_of_a_sum_are_those_of_its_variances():
    found = sensitivity.shares(linear()).set_index("parameter")
    assert list(found.index) == ["a", "b", "none"]
    assert found.loc["a", "share_percent"] == pytest.approx(80, abs=3)
    assert found.loc["b", "share_percent"] == pytest.approx(20, abs=3)
    assert found.loc["none", "share_percent"] == pytest.approx(0, abs=1)
    assert found.loc["a", "highest"] > found.loc["b", "highest"] > found.loc["none", "highest"]


def test_what_is_only_explained_together_is_in_no_share():
    rng = np.random.default_rng(1)
    found = pd.DataFrame(rng.integers(0, 2, (1024, 2)), columns=["a", "b"])
    shared = sensitivity.shares(found.assign(result=found["a"] ^ found["b"]))
    assert (shared["share_percent"] < 1).all()


def test_chance_explains_nothing():
    """Of 64 points in 8 groups, chance alone has 11 % of the variance between the groups."""
    rng = np.random.default_rng(1)
    found = [
        sensitivity.shares(pd.DataFrame({"a": rng.uniform(size=64), "result": rng.normal(size=64)}))
        for _ in range(200)
    ]
    assert np.mean([each.loc[0, "share_percent"] for each in found]) < 6


def test_a_result_that_never_changes_hangs_on_nothing():
    found = sensitivity.shares(pd.DataFrame({"a": [1, 2, 3, 4], "result": 1.0}))
    assert found["share_percent"].tolist() == [0]


def test_a_name_has_a_mean_of_its_own():
    found = pd.DataFrame({"a": ["", "-a", "", "-a"], "result": [1.0, 5, 1, 5]})
    [row] = sensitivity.shares(found).to_dict("records")
    assert (row["at_lowest"], row["lowest"], row["highest"]) == ("", 1, 5)


@pytest.fixture
def runs(monkeypatch):
    """A model whose counter `c` is its seed, and how many points it was asked for so far."""
    asked = []

    def simulate(name, given):
        asked.extend(given)
        results = [
            [["v", step, "c", "u", int(point["seed"])] for step in (1, 2)] for point in given
        ]
        return points.Done(results, 0.0)

    monkeypatch.setattr(points, "simulate", simulate)
    return asked


def test_points_are_kept_until_what_they_rest_on_changes(tmp_path, monkeypatch, runs):
    first = sensitivity.sampled(NAME, ASKED, "c / 2", 8, tmp_path)
    assert len(first) == len(runs) == 8
    assert first["result"].tolist() == first["seed"].tolist()
    again = sensitivity.sampled(NAME, ASKED, "c / 2", 8, tmp_path)
    assert len(runs) == 8
    pd.testing.assert_frame_equal(again, first)
    sensitivity.sampled(NAME, ASKED, "c / 4", 8, tmp_path)
    assert len(runs) == 16
    monkeypatch.setattr(sensitivity, "rests_on", lambda asked: "another state")
    sensitivity.sampled(NAME, ASKED, "c / 4", 8, tmp_path)
    assert len(runs) == 24


@pytest.mark.parametrize("damage", [lambda text: text[:-5], lambda text: text.replace("1", "2", 1)])
@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_stored_points_that_were_touched_are_run_again(tmp_path, runs, suffix, damage):
    first = sensitivity.sampled(NAME, ASKED, "c", 8, tmp_path)
    file = (tmp_path / NAME).with_suffix(suffix)
    file.write_text(damage(file.read_text()))
    pd.testing.assert_frame_equal(sensitivity.sampled(NAME, ASKED, "c", 8, tmp_path), first)
    assert len(runs) == 16


def test_a_folder_that_cannot_be_written_shows_the_points_all_the_same(tmp_path, runs):
    (tmp_path / "swap").write_text("a file where the folder would be")
    assert len(sensitivity.sampled(NAME, ASKED, "c", 8, tmp_path)) == 8


def test_a_point_that_fails_is_named(tmp_path, monkeypatch):
    def simulate(name, given):
        return points.Done(["ValueError: no"] * len(given), 0.0)

    monkeypatch.setattr(points, "simulate", simulate)
    with pytest.raises(RunFailed, match=r"'seed': '\d+'.*ValueError: no"):
        sensitivity.sampled(NAME, ASKED, "c", 8, tmp_path)


def test_a_point_rests_on_the_files_of_its_model_alone(monkeypatch, tmp_path):
    asked, read = experiment(NAME), []
    digest = sensitivity.cache.file_digest
    monkeypatch.setattr(
        sensitivity.cache, "file_digest", lambda file: read.append(file) or digest(file)
    )
    before = sensitivity.rests_on(asked)
    names = {str(file.relative_to(sensitivity.LIBRARY / "lorelab")) for file in read}
    assert {"swap/params.py", "swap/model/v6_12.py", "numerics.py", "params.py"} <= names
    assert not {name for name in names if name.startswith(("damon/", "sweep/", "book/"))}
    changed = sensitivity.LIBRARY / "lorelab/swap/model/v6_12.py"
    monkeypatch.setattr(
        sensitivity.cache, "file_digest", lambda file: "x" if file == changed else digest(file)
    )
    assert sensitivity.rests_on(asked) != before


def test_what_is_stored_is_what_its_files_say():
    """Of each design's stored points, the digest of the text and the number of its rows."""
    stored = sorted(sensitivity.STORED.rglob("*.json"))
    for file in stored:
        said, text = json.loads(file.read_text()), file.with_suffix(".csv").read_text()
        assert said["sha256"] == sensitivity.cache.digest(text)
        assert said["plan"]["target"] in experiments()
        assert len(said["plan"]["drawn"]) == text.count("\n") - 1
