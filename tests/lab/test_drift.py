"""A record is held against the tree: patches, config and guest programs."""

import pytest

from lorelab.experiments import experiment
from lorelab.lab import build, cache, drift, records


def as_the_tree_is():
    """Provenance of a run, of no program of swap's, on the kernel and programs of the tree."""
    for file in sorted(records.FOLDER.rglob("*.json")):
        found = records.unseal(file).provenance
        ours = found.kernel.patches and found.kernel.config == "lab"
        if ours and not found.experiment.startswith("swap/") and not drift.differs(found):
            return found
    raise AssertionError("no run is as the tree is")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The tree's own files for kernels and guests, to change some."""
    for path in cache.KERNEL_FILES.rglob("*"):
        if path.is_file():
            there = tmp_path / path.relative_to(cache.KERNEL_FILES)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
    monkeypatch.setattr(cache, "KERNEL_FILES", tmp_path)
    return tmp_path


def test_what_did_not_change_is_the_same():
    assert drift.describe(as_the_tree_is()) == "the same"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("common/lab.config", ["config"]),
        ("common/guest/agent.py", ["agent.py"]),
        ("swap/guest/swapout.py", []),
    ],
)
def test_a_changed_file_is_named(files, name, kinds):
    source = as_the_tree_is()
    (files / name).write_text((files / name).read_text() + "# changed\n")
    assert drift.differs(source) == kinds


def test_a_changed_patch_and_a_program_that_is_gone(files):
    source = as_the_tree_is()
    design = source.experiment.partition("/")[0]
    patch = sorted((files / design / "patches").glob("*.patch"))[0]
    patch.write_text(patch.read_text() + "\n")
    (files / "common/guest/agent.py").unlink()
    assert drift.differs(source) == ["patches", "agent.py"]
    assert drift.describe(source) == "other patches, 1 guest program"


def test_of_a_kernel_built_elsewhere_only_programs_can_differ():
    asked = experiment("swap/allocator-test")
    release, params = records.others(asked.name, asked.Params)[0]
    source = records.load(asked.name, params, release=release).provenance
    assert set(drift.differs(source)).isdisjoint({"patches", "config"})


def test_every_record_is_counted_once():
    counted = drift.counted()
    assert sum(runs for runs, _ in counted.values()) == len(list(records.FOLDER.rglob("*.json")))
    assert all(0 <= off <= runs for runs, off in counted.values())


def test_a_config_that_is_gone_is_another_config():
    source = as_the_tree_is()
    kernel = source.kernel.model_copy(update={"config": "gone"})
    assert isinstance(kernel, build.KernelInfo)
    assert drift.differs(source.model_copy(update={"kernel": kernel})) == ["config"]
