"""What is written beneath the doors, on a full disk: what was there stays, and nothing is half."""

import base64
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from pypdf import PdfWriter

from lorelab.book import pdf
from lorelab.damon.params import Masim
from lorelab.damon.recording import make, write
from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.lab import boot, records
from lorelab.vmalock import commands
from lorelab.vmalock.recording import recording
from tests.faults.disks import fill, mount, one_line, there
from tests.vmalock.recording.test_perf import TEXT

ALLOCATOR = "swap/allocator-test"


def recordings(disk, monkeypatch):
    """The recordings of DAMON, made again with other bytes."""
    one = make.provenance(next(iter(make.PLANS)))
    told = {name: getattr(one, name) for name in type(one).model_fields}
    source = {k: v for k, v in told.items() if k not in ("experiment", "params", "run_in_boot")}
    part = base64.b64encode(os.urandom(40_000)).decode()
    rows = [{"run": number, "part": part} for number, _ in enumerate(make.PLANS)]
    for name in make.PLANS:
        (disk / name).write_bytes((make.FOLDER / name).read_bytes())
        make.source(name, disk).write_text(make.source(name).read_text())
    monkeypatch.setattr(make, "measure", lambda *_: SimpleNamespace(rows=rows, source=source))
    return lambda: make.make(folder=disk)


def written(disk, monkeypatch):
    """A run of the model in the file of damo."""
    return lambda: write.write(Masim(), 400, disk / "damon.data")


def accelerator(disk, monkeypatch):
    """What is remembered of KVM."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(boot, "qemu_version", lambda: "a version")

    def refused(*_, **__):
        raise RunFailed("no KVM")

    monkeypatch.setattr(boot, "_run", refused)
    (disk / "lorelab/accelerator").mkdir(parents=True)
    return lambda: boot.fastest(Path("no image"), Path("no root"))


def record(disk, monkeypatch):
    """A recorded run."""
    file = sorted((records.FOLDER / ALLOCATOR).glob("*.json"))[0]
    given = json.loads(file.read_text())["provenance"]["params"]
    params = experiment(ALLOCATOR).Params(**given)
    one = records.load(ALLOCATOR, params)
    (disk / ALLOCATOR).mkdir(parents=True)
    return lambda: records.save(one, params, disk)


def waits(disk, monkeypatch):
    """Tables and charts of who waited for mmap_lock."""
    file = disk.parent / "mmap_lock.txt"
    file.write_text(TEXT)
    events = recording.read(file)
    return lambda: commands.draw(events, disk / "drawn")


def book(disk, monkeypatch):
    """The whole book as one PDF."""
    page = disk.parent / "page.pdf"
    made = PdfWriter()
    made.add_blank_page(100, 100)
    made.add_metadata({"/Title": "x" * 20_000})
    made.write(page)
    (disk / "build/talk").mkdir(parents=True)
    (disk / "build/printed").mkdir()
    monkeypatch.setattr(pdf.build, "chapters", lambda _: ["notebooks/x.ipynb"])
    monkeypatch.setattr(pdf, "print_", lambda *_: [page])
    return lambda: pdf.whole(disk)


@pytest.mark.parametrize("fault", ["full", "read-only"])
@pytest.mark.parametrize("place", [recordings, written, accelerator, record, waits, book])
def test_what_was_there_stays_and_then_it_works(place, fault, disk, monkeypatch, capfd):
    run = place(disk, monkeypatch)
    before = there(disk)
    if fault == "full":
        fill(disk)
    else:
        assert mount(disk, "-o", "remount,ro")
    if place is accelerator and fault == "full":
        (disk / "filler").write_bytes(b"x" * 4096)
        before = there(disk)
    one_line(run, capfd)
    assert there(disk) == before
    assert mount(disk, "-o", "remount,rw,size=64m")
    run()
    assert there(disk) != before


def test_a_record_on_a_read_only_disk_is_refused_as_one(disk, monkeypatch):
    run = record(disk, monkeypatch)
    assert mount(disk, "-o", "remount,ro")
    with pytest.raises(RunFailed, match="nothing was recorded"):
        run()
