"""Records: what was kept is what is read, and a record that was touched is never read."""

from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import records
from lorelab.lab.build import KernelInfo
from lorelab.lab.guest import GuestInfo
from lorelab.params import Params, param

NAME = "design/experiment"


class Some(Params):
    seed: int = param(1, "seed")
    options: str = param("", "options")


def record(
    params: Some, values: list[int], digest: str = "d", later: int = 0, release: str | None = None
) -> records.Record:
    """Of the laboratory's kernel, or of one of the reader's own called `release`."""
    kernel = KernelInfo(
        release="6.12.117",
        package="linux-source-6.12",
        package_version="6.12.117-1",
        source_sha256="s",
        config="lab",
        config_sha256="c",
        patches=[],
        patches_sha256=None,
        compiler="gcc",
        image_sha256="i",
        digest=digest,
    )
    if release:
        kernel = KernelInfo(release=release, banner=f"{release} (me) #1", image_sha256=digest)
    provenance = records.Provenance(
        experiment=NAME,
        params=params.model_dump(mode="json"),
        date=records.now() + timedelta(seconds=later),
        lorelab="0",
        kernel=kernel,
        accelerator="tcg",
        icount=False,
        boots=1,
        run_in_boot=1,
        qemu="QEMU",
        command=["qemu"],
        programs={},
        guest=GuestInfo(suite="trixie", packages={"bash": "5"}, digest="g"),
    )
    return records.Record(table(NAME, "v", "kernel", {"swpout": ("folios", values)}), provenance)


def test_round_trip(tmp_path):
    params = Some(seed=3, options="-a -s")
    kept = record(params, [1, 2, 3])
    file = records.save(kept, params, tmp_path)
    assert file.name.startswith("seed=3,options=-a_-s--")
    found = records.load(NAME, params, tmp_path)
    pd.testing.assert_frame_equal(found.counters, kept.counters)
    assert found.provenance == kept.provenance
    assert records.load(NAME, Some(), tmp_path) is None
    assert records.recorded(NAME, Some, tmp_path) == [params]


def test_what_was_recorded_later_can_be_left_out(tmp_path, monkeypatch):
    now = records.now()
    monkeypatch.setattr(records, "now", lambda: now)
    for later in (0, 10, 20):
        records.save(record(Some(), [later], later=later), Some(), tmp_path)
    newest = records.load(NAME, Some(), tmp_path)
    assert newest.counters["value"].tolist() == [20]
    dates = [newest.provenance.date - timedelta(seconds=ago) for ago in (0, 10, 20)]
    found = [records.load(NAME, Some(), tmp_path, before=date) for date in dates]
    assert [each and each.counters["value"].tolist() for each in found] == [[10], [0], None]


def test_never_overwritten(tmp_path):
    params = Some()
    first = records.save(record(params, [1]), params, tmp_path)
    before = first.read_bytes()
    assert records.save(record(params, [1], later=1), params, tmp_path) is None
    second = records.save(record(params, [2], later=2), params, tmp_path)
    assert second != first
    assert first.read_bytes() == before
    assert records.load(NAME, params, tmp_path).counters["value"].tolist() == [2]
    third = records.save(record(params, [2], digest="other", later=3), params, tmp_path)
    assert third not in (None, first, second)


def test_the_same_counters_of_another_guest_program_are_kept(tmp_path):
    params = Some()
    records.save(record(params, [1]), params, tmp_path)
    again = record(params, [1], later=1)
    source = again.provenance.model_copy(update={"programs": {"agent.py": "other"}})
    assert records.save(again._replace(provenance=source), params, tmp_path) is not None
    later = source.model_copy(update={"date": source.date + timedelta(seconds=1)})
    assert records.save(again._replace(provenance=later), params, tmp_path) is None


def test_a_kernel_of_ones_own_stands_apart(tmp_path):
    params = Some()
    ours, theirs = record(params, [1]), record(params, [2], release="6.12.9", later=1)
    records.save(ours, params, tmp_path)
    file = records.save(theirs, params, tmp_path)
    assert file.name.startswith("kernel=6.12.9,default--")
    newer = record(params, [3], release="6.12.10+deb13", later=2)
    records.save(newer, params, tmp_path)

    def value(**which):
        return records.load(NAME, params, tmp_path, **which).counters["value"].tolist()

    assert value() == [1]
    assert value(release="6.12.9") == [2]
    assert records.load(NAME, params, tmp_path, release="6.12.117") is None
    runs = [("6.12.9", params), ("6.12.10+deb13", params)]
    assert records.others(NAME, Some, tmp_path) == runs
    assert records.recorded(NAME, Some, tmp_path) == [params]
    # Told by its image: the same release built again is another kernel.
    again = record(params, [2], release="6.12.9", later=3)
    assert records.save(again, params, tmp_path) is None
    other = record(params, [2], digest="i2", release="6.12.9", later=4)
    assert records.save(other, params, tmp_path) is not None
    assert value(release="6.12.9") == [2]


def test_only_runs_of_other_kernels_are_nothing_to_rerun(tmp_path):
    params = Some()
    records.save(record(params, [2], release="6.12.9"), params, tmp_path)
    assert records.load(NAME, params, tmp_path) is None
    assert records.recorded(NAME, Some, tmp_path) == []


@pytest.mark.parametrize("suffix", [".csv", ".json"])
@pytest.mark.parametrize("damage", ["truncate", "edit", "empty"])
def test_a_touched_record_is_refused(tmp_path, suffix, damage):
    params = Some()
    file = records.save(record(params, [10, 20, 30]), params, tmp_path).with_suffix(suffix)
    text = file.read_text()
    touched = {
        "truncate": text[: len(text) // 2],
        "edit": text.replace("20", "21").replace('"seed": 1', '"seed": 2'),
        "empty": "",
    }[damage]
    assert touched != text
    file.write_text(touched)
    with pytest.raises(BadInput) as refused:
        records.load(NAME, params, tmp_path)
    assert file.name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_half_a_record_is_refused(tmp_path):
    params = Some()
    file = records.save(record(params, [1]), params, tmp_path)
    file.unlink()
    with pytest.raises(BadInput, match="missing"):
        records.load(NAME, params, tmp_path)


def test_no_room_leaves_nothing(tmp_path, monkeypatch):
    params = Some()

    write = Path.write_bytes

    def full(self, content):
        if self.suffix == ".json":
            raise OSError(28, "No space left on device")
        return write(self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RunFailed, match="No space left on device"):
        records.save(record(params, [1]), params, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class Modelled(Some):
    cost: int = param(5, "what the model takes it to cost", only="model")


def test_what_only_the_model_takes_tells_no_records_apart(tmp_path):
    params = Modelled(cost=6)
    records.save(record(params, [1]), params, tmp_path)
    assert records.load(NAME, Modelled(cost=7), tmp_path).counters["value"].tolist() == [1]
    assert records.load(NAME, Modelled(seed=2), tmp_path) is None
    assert records.save(record(params, [1]), Modelled(cost=7), tmp_path) is None
    records.save(record(Modelled(cost=7), [2]), Modelled(cost=7), tmp_path)
    assert records.recorded(NAME, Modelled, tmp_path) == [Modelled()]


def test_records_of_one_second_stand_beside_each_other(tmp_path, monkeypatch):
    """All runs of a boot have its date."""
    now = records.now()
    monkeypatch.setattr(records, "now", lambda: now)
    files = [records.save(record(Some(), [value]), Some(), tmp_path) for value in range(12)]
    assert len(set(files)) == 12
    values = [pd.read_csv(file)["value"].tolist() for file in files]
    assert values == [[value] for value in range(12)]
    assert files[1].stem == f"{files[0].stem}-2"
    assert records.load(NAME, Some(), tmp_path).counters["value"].tolist() == [11]


def test_a_record_whose_parameters_are_taken_no_more_is_named_once(tmp_path, capsys):
    class Narrower(Some):
        seed: int = param(1, "seed", le=5)

    odd = records.save(record(Some(seed=9), [1]), Some(seed=9), tmp_path)
    records.save(record(Some(seed=2), [2]), Some(seed=2), tmp_path)
    assert records.recorded(NAME, Narrower, tmp_path) == [Narrower(seed=2)]
    assert records.load(NAME, Narrower(seed=2), tmp_path) is not None
    assert records.others(NAME, Narrower, tmp_path) == []
    said = capsys.readouterr().err
    assert odd.stem in said and "seed: Input should be less than or equal to 5" in said
    assert said.count("\n") == 1
