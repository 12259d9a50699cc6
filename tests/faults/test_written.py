"""What the book, the laboratory and a sweep write, on a full disk and on a read-only one.

Each place is tried alone: one clear line, nothing half-written, and then the same succeeds.
"""

import re
import shutil
import tempfile
import time
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from lorelab.book import build as books
from lorelab.book import cache, chromium, ledger, talk
from lorelab.book.execute import Run
from lorelab.lab import cache as built
from lorelab.lab import external_kernel, guest, recipes
from lorelab.running.sweep import page, plan
from lorelab.running.sweep.journal import Journal, Point
from tests import lacking
from tests.faults.disks import PAGE, fill, mount, one_line, there

LONG = "x" * 3 * PAGE
CHAPTER = ("swap", "notebooks/swap/thread.ipynb")


def notebook():
    cell = nbformat.v4.new_code_cell("print(1)")
    cell.outputs = [nbformat.v4.new_output("stream", text=LONG)]
    return nbformat.v4.new_notebook(cells=[cell])


def kept(disk, monkeypatch):
    """What a notebook gave, kept for as long as it holds."""
    run = Run([notebook().cells[0].outputs], [], [], [])
    return lambda: cache.keep(disk / "kept.json", notebook(), run, time.time(), disk)


def vouched(disk, monkeypatch):
    """What the outputs in a notebook rest on."""
    names = [f"{number}-{'x' * 80}" for number in range(100)]
    run = Run([notebook().cells[0].outputs], names, [], [])
    kept = disk.parent / "kept.json"
    for name in names:
        (disk.parent / name).touch()
    cache.keep(kept, notebook(), run, time.time() + 1, disk.parent)
    return lambda: cache.write_basis(disk / "vouched.json", notebook(), kept, disk.parent)


def held(disk, monkeypatch):
    """What came of holding every recorded run of an experiment against the model."""
    monkeypatch.setattr(ledger, "AGREEMENTS", disk)
    table = pd.DataFrame({"parameters": [LONG], "verdict": ["passed"]})
    monkeypatch.setattr(ledger, "against_model", lambda _: table)
    monkeypatch.setattr(ledger, "_date", lambda _: "a day")
    monkeypatch.setattr(ledger.records, "recorded", lambda *_: [None])
    monkeypatch.setattr(type(ledger.experiment("swap/allocator-test")), "recorded", lambda *_: 1)
    (disk / "swap").mkdir()
    return lambda: ledger.judge_records("swap/allocator-test")


def decks(disk, monkeypatch):
    """The deck of a chapter."""
    shutil.copytree(talk.build.ROOT / "book", disk / "book")
    (disk / "build/talk").mkdir(parents=True)
    books.vega(disk)
    source = nbformat.read(talk.build.ROOT / CHAPTER[1], 4)
    monkeypatch.setattr(talk.build, "chapters", lambda _: [CHAPTER[1]])
    monkeypatch.setattr(talk.build, "executed", lambda *_: {CHAPTER[1]: source})
    monkeypatch.setattr(talk, "decks", lambda _: {CHAPTER[0]: [CHAPTER[1]]})
    return lambda: talk.talk([CHAPTER[0]], disk)


def pdf(disk, monkeypatch):
    """A page that Chromium prints."""
    if shutil.which("chromium") is None:
        lacking("no chromium")
    shown = disk.parent / "page.html"
    shown.write_text("<h1>One</h1>" + "<p>and more</p>" * 200)
    return lambda: chromium.print_({disk / "page.pdf": shown.as_uri()}, "true")


def guests(disk, monkeypatch):
    """The guest's files. Not Debian's, which are some 400 MiB, but as they are made and kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
    status = disk.parent / "status"
    status.write_text("".join(f"Package: p{n}\nVersion: {n}\n\n" for n in range(500)))
    made = f"mkdir -p $0/var/lib/dpkg && cp {status} $0/var/lib/dpkg/status"
    monkeypatch.setattr(guest, "COMMAND", ("sh", "-c", made))
    monkeypatch.setattr(guest.needs, "check", lambda *_: None)
    monkeypatch.setattr(guest.cache, "need_room", lambda *_: None)
    guest._folder().mkdir(parents=True)
    return guest.build_root


def image(disk, monkeypatch):
    """The guest's root as an image."""
    if not Path("/usr/sbin/mke2fs").exists():
        lacking("no mke2fs")
    monkeypatch.setattr(guest, "ROOM_MIB", 8)
    (disk / "root").mkdir()
    (disk / "root/file").write_text(LONG)
    return lambda: guest.disk(disk / "root")


def programs(disk, monkeypatch):
    """The compiled programs of a design: make and gcc are real, the program is one line."""
    if shutil.which("gcc") is None:
        lacking("no gcc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
    files = disk.parent / "kernel"
    (files / "one/guest").mkdir(parents=True)
    (files / "common").mkdir()
    (files / "one/guest/a.c").write_text("int main(void) { return 0; }\n")
    (files / "one/guest/Makefile").write_text("all:\n\tgcc -o $(OUT)/a a.c\n")
    monkeypatch.setattr(built, "KERNEL_FILES", files)
    monkeypatch.setattr(guest.needs, "check", lambda *_: None)
    monkeypatch.setattr(guest.build, "source_tree", lambda _: disk)
    made = recipes.Recipe("one", "lab", "linux", "1", "digest", "gcc", [], [])
    guest._programs(made).mkdir(parents=True)
    return lambda: guest.build_programs(made)


def initramfs(disk, monkeypatch):
    """What a kernel of the reader's own is booted with, in the folder for what is temporary."""
    external_kernel.needs.check(external_kernel.needs.OWN)
    modules = disk.parent / "6.9.1-mine"
    modules.mkdir()
    (modules / "modules.builtin").write_text(
        "".join(f"kernel/{name}.ko\n" for name in external_kernel.MODULES)
    )
    (modules / "modules.order").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    root = disk.parent / "guest/root"
    root.mkdir(parents=True)
    monkeypatch.setattr(external_kernel.guest, "disk", lambda _: root)

    def run():
        with tempfile.TemporaryDirectory(prefix="lorelab-") as name:
            (Path(name) / "lab").mkdir()
            external_kernel.command(disk.parent / "image", modules, root, Path(name))
        (disk / "made").touch()

    return run


def swept(disk, monkeypatch):
    """The table of a sweep and its page."""
    rows = [["v", step, "c", "u", step * 1.5] for step in range(300)]
    swept = plan.grid("swap/allocator-test", ("seed=1:20",))
    with Journal(disk, swept, "rests") as journal:
        journal.keep([Point(number, rows) for number in range(20)])

    def run():
        with Journal(disk, swept, "rests") as journal:
            page.write(journal, {})

    return run


PLACES = [kept, vouched, held, decks, pdf, guests, image, programs, initramfs, swept]


@pytest.mark.parametrize("fault", ["full", "read-only"])
@pytest.mark.parametrize("place", PLACES)
def test_one_line_nothing_half_and_then_it_works(place, fault, disk, monkeypatch, capfd):
    run = place(disk, monkeypatch)
    before = _results(disk)
    if fault == "full":
        fill(disk)
    else:
        assert mount(disk, "-o", "remount,ro")
    said = one_line(run, capfd)
    assert re.search("No space left|Read-only file system|make room", said)
    assert str(disk) in said or "depmod failed" in said
    assert _results(disk) == before
    assert mount(disk, "-o", "remount,rw,size=64m")
    run()
    assert _results(disk).keys() > before.keys()


def _results(disk):
    """All but locks, and the log that says why there is no result."""
    return {at: what for at, what in there(disk).items() if at.name not in (".lock", "build.log")}
