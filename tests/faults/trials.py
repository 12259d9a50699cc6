"""Faults put on the doors on purpose: what was lost, what was left, and does it work again?

    python -m tests.faults.trials [--number N] [--door DOOR] [--fault FAULT] [-o FOLDER]

Each trial starts a door in a process of its own, disturbs it, looks at what it said and left, and
runs the same command again undisturbed. Its result must then be that of a run never disturbed.
A table is stored beside the JSON of where it came from, as recorded kernel runs are.
"""

import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click
import nbformat
import pandas as pd

from lorelab import __version__, cli
from lorelab.book import build as builder
from lorelab.experiments import experiment
from lorelab.lab import cache, records

SECONDS = 300
HERE = Path(__file__).resolve().parents[2]
CELLS = [
    "seed: int = 1  # of the events",
    "import lorelab\n\ngiven = lorelab.check('swap/allocator-test', seed=seed)\nprint(given.seed)",
]


class Door(NamedTuple):
    """A command that writes to `{out}/a...`, and how its result is read."""

    words: tuple[str, ...]
    result: str
    read: Callable[[Path], object]
    command: click.Command = cli.cli
    faults: tuple[str, ...] = ("kill -9", "full disk", "read-only", "two at once")
    pages: int = 3
    """Most room, in pages of 4 KiB, that a full disk has left."""
    given: str = ""
    """What of the inputs is in the folder as `a` before the door is called."""


class Ended(NamedTuple):
    """How a door ended; status -9 where it was killed."""

    status: int
    said: str
    seconds: float


class Place(NamedTuple):
    """What the trials share: inputs, a cluster, and where the doors write."""

    inputs: Path
    scheduler: str
    out: Path


def _printed(file: Path) -> str:
    [_, _, cell] = nbformat.read(file, as_version=4).cells
    return cell.outputs[0]["text"]


def _windows(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix == ".csv"]


def _pages(folder: Path) -> list[bytes]:
    return [(folder / f"{name}.html").read_bytes() for name in ("index", "page", "other")]


def _record(folder: Path) -> str | None:
    """The counters of the recorded run; one that is cut can't be read."""
    found = records.load(ALLOCATOR, experiment(ALLOCATOR).Params(**RECORDED), folder.parents[1])
    return found and found.counters.to_csv()


@click.command()
@click.argument("root", type=Path)
def book_build(root: Path) -> None:
    """`make book` of a book of two pages."""
    print(builder.build(root))


@click.command()
@click.argument("folder", type=Path)
def lab_record(folder: Path) -> None:
    """One run measured and recorded, as `lorelab lab record` does with each of a design."""
    records.FOLDER = folder
    given = [word for name, value in RECORDED.items() for word in ("-p", f"{name}={value}")]
    cli.cli(["kernel", ALLOCATOR, *given, "--record", "-o", f"{folder}.csv"], standalone_mode=False)


ALLOCATOR = "swap/allocator-test"
RECORDED = {"options": "-s", "iterations": 1}
KILLED = ("kill -9",)
DOORS = {
    "model": Door(
        ("model", ALLOCATOR, "-p", "iterations=60", "-o", "{out}/a.csv"), "a.csv", Path.read_bytes
    ),
    "damon": Door(("damon", "{inputs}/damon.data", "-o", "{out}/a"), "a", _windows),
    "sweep": Door(
        (
            *("sweep", ALLOCATOR, "-p", "seed=1:40", "-p", "iterations=5"),
            *("-o", "{out}/a", "--scheduler", "{scheduler}"),
        ),
        "a/table.parquet",
        lambda file: pd.read_parquet(file).to_csv(),
    ),
    "run": Door(
        ("run", "{inputs}/page.ipynb", "-p", "seed=7", "-o", "{out}/a.ipynb"), "a.ipynb", _printed
    ),
    "book": Door(("{out}/a",), "a/build/book", _pages, book_build, pages=1000, given="book"),
    "record": Door(("{out}/a",), f"a/{ALLOCATOR}", _record, lab_record, KILLED),
}
ALLOWED = {"model": 1, "damon": 1, "sweep": 1, "run": 2, "book": 1, "record": 2}
"""What a door leaves in its folder when it is done."""
BUILDS = ("build", "guest")
"""Of the laboratory: a kernel, and the guest (`tests.faults.builds`)."""
COMMANDS = {
    "book": ["make", "book"],
    "build": ["lorelab", "lab", "build", "gso"],
    "guest": ["lorelab", "lab", "build", "gso"],
    "record": ["lorelab", "kernel", ALLOCATOR, "--record"],
}
"""What a reader gives, where a trial needs another way to the same function."""


class Started:
    """A door in a process of its own, forked from this one, which has the library loaded."""

    def __init__(self, words: list[str], command: click.Command = cli.cli) -> None:
        self.began = time.monotonic()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (closed as it is read)
        self.pid = os.fork()
        if self.pid == 0:
            _child(words, command, self.log.fileno())

    def wait(self) -> Ended:
        _, ended = os.waitpid(self.pid, 0)
        self.log.seek(0)
        said = self.log.read().decode()
        self.log.close()
        return Ended(os.waitstatus_to_exitcode(ended), said, time.monotonic() - self.began)


def _child(words: list[str], command: click.Command, log: int) -> None:
    os.setsid()
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["lorelab", *words]
    status = 0
    try:
        cli.main(command)
    except SystemExit as stop:
        status = stop.code or 0
    except BaseException as error:
        print(f"Traceback: {error!r}", file=sys.stderr)
        status = 99
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def started(door: Door, place: Place) -> Started:
    return Started([word.format(**place._asdict()) for word in door.words], door.command)


def found(door: Door, place: Place) -> object | None:
    """The result as it is there, or None; `half` where it can't be read."""
    file = place.out / door.result
    if not file.exists():
        return None
    try:
        return door.read(file)
    except Exception:
        return "half"


def _give(door: Door, place: Place) -> None:
    if door.given:
        shutil.copytree(place.inputs / door.given, place.out / "a")


def killed(door: Door, place: Place, chance: random.Random, seconds: float) -> Ended:
    """Kill -9 at a moment within the time that it takes."""
    one = started(door, place)
    time.sleep(chance.uniform(0, seconds))
    os.kill(one.pid, signal.SIGKILL)
    return one.wait()


def full(door: Door, place: Place, chance: random.Random, seconds: float) -> Ended:
    """A disk with a few KiB left, which is larger when the command is given again."""
    disk = os.statvfs(place.out)
    left = disk.f_frsize // 1024 * (disk.f_blocks - disk.f_bfree)
    _remount(place.out, f"size={left + 4 * chance.randrange(1, door.pages + 1)}k")
    ended = started(door, place).wait()
    _remount(place.out, "size=64m")
    return ended


def read_only(door: Door, place: Place, chance: random.Random, seconds: float) -> Ended:
    """A file system that is mounted read-only, and writable the second time."""
    _remount(place.out, "ro")
    ended = started(door, place).wait()
    _remount(place.out, "rw")
    return ended


def twice(door: Door, place: Place, chance: random.Random, seconds: float) -> Ended:
    """Two of the same command, the second a moment later; tells how the second ended."""
    first = started(door, place)
    time.sleep(chance.uniform(0, seconds / 2))
    second = started(door, place)
    ended = second.wait()
    alone = first.wait()
    return ended if alone.status == 0 else alone


FAULTS = {"kill -9": killed, "full disk": full, "read-only": read_only, "two at once": twice}


def trial(name: str, fault: str, place: Place, seconds: float, wanted: object, seed: int) -> dict:
    """One trial, from an empty folder to the same command undisturbed."""
    door = DOORS[name]
    with _disk(place.out):
        _give(door, place)
        ended = FAULTS[fault](door, place, random.Random(f"{name} {fault} {seed}"), seconds)
        lines = [line for line in ended.said.splitlines() if line.startswith("lorelab: ")]
        before = found(door, place)
        if fault != "two at once" or ended.status:
            time.sleep(0.2)  # children of a killed door go by themselves
        if name == "damon" and before is not None:
            again = Ended(0, "", 0)  # refuses to write over what is whole
        else:
            again = started(door, place).wait()
        left = [path.name for path in place.out.iterdir() if path.name != "lost+found"]
        return {
            "door": name,
            "fault": fault,
            "trials": 1,
            "disturbed": int(ended.status != 0),
            "unclear": int(
                ended.status not in (0, -9) and (len(lines) != 1 or "Traceback" in ended.said)
            ),
            "half_written": int(before is not None and before != wanted),
            "left_over": int(len(left) > ALLOWED[name]),
            "failed_again": int(again.status != 0),
            "lost": int(found(door, place) != wanted),
            "said": " | ".join(lines) + ("" if again.status == 0 else f" AGAIN {again.said}"),
        }


@contextmanager
def _disk(at: Path):
    """A file system of its own, in memory."""
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "lorelab-trial", at], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", at], check=True)


def _remount(at: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", at], check=True)


@contextmanager
def places(scheduler: str):
    """Inputs, and a folder for what the doors write."""
    with tempfile.TemporaryDirectory(prefix="trials-") as made:
        inputs = Path(made, "inputs")
        inputs.mkdir()
        shutil.copy(HERE / "data/recordings/turns.damon.data", inputs / "damon.data")
        cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
        cells[0].metadata["tags"] = ["parameters"]
        kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "3"}}
        page = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
        nbformat.write(page, inputs / "page.ipynb")
        _small_book(inputs / "book", kernel)
        yield Place(inputs, scheduler, Path(made, "out"))


def _small_book(root: Path, kernel: dict) -> None:
    """The book's own settings, and two pages that run."""
    shutil.copytree(HERE / "book", root / "book")
    part = "parts:\n- caption: More\n  chapters:\n  - file: other\n"
    (root / "book/_toc.yml").write_text(f"format: jb-book\nroot: page\n{part}")
    (root / "notebooks").mkdir()
    for name in ("page", "other"):
        cells = [nbformat.v4.new_markdown_cell(f"# {name}"), nbformat.v4.new_code_cell("6 * 7")]
        written = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
        for number, cell in enumerate(written.cells):
            cell["id"] = f"{name}-{number}"
        nbformat.write(written, root / f"notebooks/{name}.ipynb")


def trials(
    doors: list[str], faults: list[str], number: int, scheduler: str = ""
) -> Iterator[pd.DataFrame]:
    """`number` trials of each fault on each door: a table for each of both, a row a trial."""
    with places(scheduler) as place:
        for name in doors:
            for _ in range(2):  # the first also loads and compiles, which no trial does again
                with _disk(place.out):
                    _give(DOORS[name], place)
                    undisturbed = started(DOORS[name], place).wait()
                    wanted = found(DOORS[name], place)
                    if undisturbed.status or wanted is None:
                        raise RuntimeError(undisturbed.said)
            for fault in [fault for fault in faults if fault in DOORS[name].faults]:
                rows = []
                for seed in range(number):
                    rows.append(trial(name, fault, place, undisturbed.seconds, wanted, seed))
                    print(*rows[-1].values(), file=sys.stderr, flush=True)
                yield pd.DataFrame(rows)


def command(door: str) -> list[str]:
    """What a reader would give."""
    return COMMANDS.get(door) or ["lorelab", *DOORS[door].words]


def store(rows: pd.DataFrame, folder: Path, tried: str) -> Path:
    """Write the trials of one fault on one door, and beside them where they come from.

    `tried` is the digest of the library as it was when the trials began.
    """
    one = rows.iloc[0]
    file = folder / f"{one.door}-{one.fault.replace(' ', '_')}.csv"
    rows.drop(columns="said").to_csv(file, index=False)
    beside = {
        "command": command(one.door),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "library": tried,
        "lorelab": __version__,
        "machine": {"cpus": os.cpu_count(), "linux": platform.release()},
        "python": platform.python_version(),
        "seeds": f"0 to {len(rows) - 1}",
        "sha256": cache.file_digest(file),
    }
    file.with_suffix(".json").write_text(json.dumps(beside, indent=1, sort_keys=True) + "\n")
    return file


def library() -> str:
    """Digest of the library whose doors were tried, and of the trials."""
    tried = [Path(__file__).resolve().with_name(name) for name in ("builds.py", "trials.py")]
    files = [*sorted((HERE / "lib/lorelab").rglob("*.py")), *tried]
    return cache.digest(*(f"{file.relative_to(HERE)} {cache.file_digest(file)}" for file in files))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--number", type=int, default=20)
    words.add_argument("--door", action="append", choices=[*DOORS, *BUILDS])
    words.add_argument("--fault", action="append", choices=FAULTS)
    words.add_argument("-o", type=Path, default=HERE / "data/faults")
    given = words.parse_args()
    doors = given.door or [*DOORS, *BUILDS]
    faults = given.fault or list(FAULTS)
    tried = library()
    warm()
    given.o.mkdir(parents=True, exist_ok=True)
    with cluster() if "sweep" in doors else nullcontext("") as scheduler:
        for rows in trials([d for d in doors if d in DOORS], faults, given.number, scheduler):
            store(rows, given.o, tried)
    if "kill -9" in faults:
        from tests.faults.builds import TRIALS  # which needs this module

        for door in [d for d in doors if d in BUILDS]:
            for rows in TRIALS[door](given.number):
                store(rows, given.o, tried)


def warm() -> None:
    """Load what the doors load, so that a child has it."""
    from lorelab.damon.pages import charts  # noqa: F401
    from lorelab.damon.recording import report  # noqa: F401
    from lorelab.running import rerun  # noqa: F401

    found_ = experiment(ALLOCATOR)
    found_.simulate(found_.Params(iterations=1))


@contextmanager
def cluster():
    """A scheduler and a worker of their own, which outlive the doors."""
    bin_ = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "scheduler.json")
        own = {"cwd": made, "stderr": subprocess.DEVNULL}
        words = ["--scheduler-file", file, "--no-dashboard"]
        scheduler = subprocess.Popen([bin_ / "dask", "scheduler", *words, "--port", "0"], **own)
        worker = subprocess.Popen([bin_ / "dask", "worker", *words, "--nthreads", "1"], **own)
        try:
            until = time.monotonic() + SECONDS
            while not file.exists() and time.monotonic() < until:
                time.sleep(0.2)
            yield pd.read_json(file, typ="series")["address"]
        finally:
            worker.terminate()
            scheduler.terminate()
            worker.wait()
            scheduler.wait()


if __name__ == "__main__":
    main()
