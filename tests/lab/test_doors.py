"""`lorelab kernel`, `lab` and `doctor`, with an experiment whose kernel is a function."""

import errno
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from lorelab import cli
from lorelab.counters import table
from lorelab.errors import BadInput, RunFailed
from lorelab.judging.agreement import AgreementVerdict, equal
from lorelab.lab import build, needs, pool, recipes, records
from lorelab.lab.boot import GuestFailed
from lorelab.lab.run import DEFAULTS, RunOptions
from tests.lab.test_records import NAME, Some, record

FRAMES = [
    {"probe": "faults", "counters": [["ns", 16, "faults", 3]], "lost": 2},
    {"probe": "faults", "stream": "s", "fields": ["at"], "rows": [[7], [8]]},
]


@dataclass
class Fake:
    """Stands for an Experiment: counts up from the seed, plus whatever the kernel `adds`."""

    adds: int = 0
    name: str = NAME
    design: str = "design"
    Params: type = Some
    backends: str = "model and kernel"
    verdict: AgreementVerdict | None = None
    booted: list = field(default_factory=list)
    options: RunOptions = DEFAULTS

    def measure(self, requested, options=DEFAULTS):
        self.options = options
        self.booted += requested
        release = "7.2.12" if self.options.image else None
        found = [record(p, [p.seed + self.adds, p.seed], release=release) for p in requested]
        return [one._replace(probes=FRAMES if self.options.probes else ()) for one in found]

    def recorded(self, params):
        return records.load(self.name, params)

    def check_agrees(self):
        pass

    def agree(self, params, measured):
        model = table(NAME, "v", "model", {"swpout": ("folios", [params.seed, params.seed])})
        return self.judged(equal(model, measured.counters))

    def agree_with_record(self, params, before, measured):
        return self.judged(equal(before.counters, measured.counters))

    def judged(self, found):
        return replace(found, verdict=self.verdict) if self.verdict else found


@pytest.fixture
def fake(monkeypatch, tmp_path):
    one = Fake()
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(cli, "experiments", lambda design=None: {NAME: one})
    monkeypatch.setattr(cli, "experiment", lambda name: one)
    return one


def run(*words):
    result = CliRunner().invoke(cli.cli, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_kernel_writes_counters_and_records_only_when_asked(fake, tmp_path):
    run("kernel", NAME, "-o", str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().startswith("design,experiment,variant")
    assert records.load(NAME, Some()) is None
    run("kernel", NAME, "--record")
    assert records.load(NAME, Some()) is not None


def test_what_a_probe_says(fake, tmp_path, monkeypatch):
    sending = replace(fake, design="swap")
    monkeypatch.setattr(cli, "experiment", lambda name: sending)
    with pytest.raises(BadInput, match=r"slots: sends events, .* give -o FILE"):
        run("kernel", NAME, "--probe", "slots")
    monkeypatch.setattr(cli, "experiment", lambda name: fake)
    with pytest.raises(BadInput, match="leave --probe and --icount out"):
        run("kernel", NAME, "--probe", "faults", "--record")
    with pytest.raises(BadInput, match="unknown probe nosuch: takes one of faults"):
        run("kernel", NAME, "--probe", "nosuch")
    assert fake.booted == []
    out = tmp_path / "out.csv"
    assert "probe faults: lost 2 events" in run("kernel", NAME, "--probe", "faults", "-o", str(out))
    assert ",kernel,16,faults.ns,faults,3\n" in out.read_text()
    assert ",kernel,0,faults.lost,events,2\n" in out.read_text()
    events = pd.read_parquet(tmp_path / "out.csv.faults.s.parquet")
    assert events["at"].tolist() == [7, 8]


def test_agree_takes_the_record_and_boots_without_one_or_when_told(fake):
    run("agree", NAME)
    assert len(fake.booted) == 1
    run("kernel", NAME, "--record")
    run("agree", NAME)
    assert len(fake.booted) == 2
    run("agree", NAME, "--live")
    assert len(fake.booted) == 3


def test_a_kernel_of_ones_own_is_booted_and_recorded_apart(fake, tmp_path):
    run("kernel", NAME, "--record")
    run("agree", NAME, "--kernel", "bzImage")
    assert len(fake.booted) == 2
    assert str(fake.options.image) == "bzImage"
    fake.adds = 7
    run("kernel", NAME, "--record", "--kernel", "bzImage")
    assert len(list((tmp_path / NAME).glob("kernel=7.2.12,default--*.csv"))) == 1
    assert records.load(NAME, Some()).counters["value"].tolist() == [1, 1]
    own = records.load(NAME, Some(), release="7.2.12")
    assert own.counters["value"].tolist() == [8, 1]


def test_a_config_is_for_finding_bugs(fake, monkeypatch):
    built = []
    monkeypatch.setattr(recipes, "recipe", lambda design, config: built.append((design, config)))
    monkeypatch.setattr(build, "built", lambda made: build.Kernel("image of debug", None))
    run("kernel", NAME, "--config", "debug")
    assert built == [("design", "debug")]
    assert fake.options.image == "image of debug"
    for more in ("--record", "--kernel=bzImage"):
        with pytest.raises(BadInput, match="--config is for finding bugs"):
            run("kernel", NAME, "--config", "debug", more)


@pytest.fixture
def failing(fake, monkeypatch):
    def measure(requested, options=DEFAULTS):
        raise GuestFailed("QEMU was killed by signal 9", [{"run": 0, "n": 1}, {"run": 0, "n": 2}])

    monkeypatch.setattr(fake, "measure", measure)


def test_part_of_a_run_is_never_taken_for_all_of_it(failing, tmp_path, capsys):
    """No data on stdout, no FILE, no record; what there is, is marked."""
    with pytest.raises(GuestFailed):
        run("kernel", NAME, "--record", "-o", str(tmp_path / "out.csv"))
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv.partial.csv"]
    assert (tmp_path / "out.csv.partial.csv").read_text() == "run,n\n0,1\n0,2\n"
    with pytest.raises(SystemExit) as ended:
        cli.main(lambda **options: cli.cli(["kernel", NAME], **options))
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert said.out == ""
    assert said.err.splitlines()[:3] == ["partial: run,n", "partial: 0,1", "partial: 0,2"]
    assert "killed by signal 9" in said.err


def test_agree_fails_on_one_step_that_differs(fake):
    fake.adds = 1
    with pytest.raises(RunFailed, match="model and kernel differ"):
        run("agree", NAME)


def test_agree_says_what_it_came_to_and_how_it_was_judged(fake, capsys):
    said = run("agree", NAME)
    columns = "counter,unit,steps,equal,largest_difference,one_sided,agrees,detectable,verdict"
    assert f"{columns}\n" in said
    assert f"{NAME}: passed: step by step, of 1 counters: 2 of 2 values are equal\n" in said
    fake.verdict = AgreementVerdict.UNDECIDED
    assert f"{NAME}: undecided: step by step" in run("agree", NAME)


def test_record_measures_every_recorded_run_again(fake, tmp_path):
    for seed in (1, 2):
        run("kernel", NAME, "-p", f"seed={seed}", "--record")
    fake.booted.clear()
    run("lab", "record")
    assert {params.seed for params in fake.booted} == {1, 2}
    assert len(list((tmp_path / NAME).glob("*.csv"))) == 2


@pytest.mark.parametrize("cpus", [1, 3])
def test_record_boots_a_guest_for_each_cpu(fake, tmp_path, monkeypatch, cpus):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cpus)))
    seeds = range(2 * pool.FEWEST + 1)
    for seed in seeds:
        older = record(Some(seed=seed), [seed, seed], digest="older", later=-60)
        records.save(older, Some(seed=seed))
    run("lab", "record")
    # Two guests get no fewer than a boot is worth; what others measured is not in this process.
    assert len(fake.booted) == (len(seeds) if cpus == 1 else 0)
    for seed in seeds:
        newest = records.load(NAME, Some(seed=seed))
        assert newest.counters["value"].tolist() == [seed, seed]
        assert newest.provenance.kernel.digest == "d"
    assert len(list((tmp_path / NAME).glob("*.json"))) == 2 * len(seeds)


@dataclass
class Meeting(Fake):
    """Comes to no end before another part of what is measured has begun."""

    folder: Path = Path()

    def measure(self, requested, options=DEFAULTS):
        (self.folder / f"{self.name}.{requested[0].seed}").touch()
        deadline = time.monotonic() + 300
        while len(list(self.folder.iterdir())) < 2:
            assert time.monotonic() < deadline, "it is alone"
            time.sleep(0.05)
        return [record(p, [p.seed, 1]) for p in requested]


def test_record_leaves_no_cpu_idle_and_begins_with_what_cannot_be_parted(
    fake, tmp_path, monkeypatch
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    folder = tmp_path / "begun"
    folder.mkdir()
    runs = {"many": 2 * pool.FEWEST, "few": 1, "none": 0, "one": 1}
    meeting = {name: Meeting(name=name, folder=folder) for name in runs}
    monkeypatch.setattr(cli, "experiments", lambda design=None: meeting)
    monkeypatch.setattr(
        records, "recorded", lambda name, _: [Some(seed=n) for n in range(runs[name])]
    )
    run("lab", "record")
    begun = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert begun.keys() == {"few.0", "one.0", "many.0", "many.1"}
    assert max(begun["few.0"], begun["one.0"]) <= min(begun["many.0"], begun["many.1"])


@dataclass
class Dying(Fake):
    """One part of the runs dies with its guest."""

    def measure(self, requested, options=DEFAULTS):
        if Some(seed=1) in requested:
            raise GuestFailed("the guest's kernel panicked", [{"run": 0}])
        return [record(p, [p.seed, 1]) for p in requested]


def test_a_guest_that_dies_takes_no_other_with_it(fake, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(cli, "experiments", lambda design=None: {NAME: Dying()})
    runs = range(2 * pool.FEWEST)
    for seed in runs:
        records.save(record(Some(seed=seed), [0, 0], later=-60), Some(seed=seed))
    with pytest.raises(GuestFailed, match="panicked") as failed:
        run("lab", "record")
    assert failed.value.rows == [{"run": 0}]
    kept = [records.load(NAME, Some(seed=n)).counters["value"].tolist() for n in runs]
    assert kept[1] == [0, 0]
    # The other part is kept whole, whichever came first.
    assert sum(values == [0, 0] for values in kept) == pool.FEWEST
    assert all(values in ([0, 0], [seed, 1]) for seed, values in enumerate(kept))


@dataclass
class Waiting(Fake):
    """Says which process it is in, and comes to no end."""

    folder: Path = Path()

    def measure(self, requested, options=DEFAULTS):
        (self.folder / str(os.getpid())).touch()
        time.sleep(600)


def test_no_guest_goes_on_when_lorelab_is_killed(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; "
        "from tests.lab.test_doors import Some, Waiting; from lorelab.lab import pool; "
        "os.sched_getaffinity = lambda pid: {0, 1}; "
        f"waiting = Waiting(folder=Path({str(tmp_path)!r})); "
        "list(pool.measured([(waiting, [Some(seed=n) for n in range(2 * pool.FEWEST)])]))"
    )
    child = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 300
    while len(begun := list(tmp_path.iterdir())) < 2:
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    child.terminate()
    child.wait()
    deadline = time.monotonic() + 300
    while any(Path(f"/proc/{pid.name}/exe").exists() for pid in begun):
        assert time.monotonic() < deadline, "it goes on alone"
        time.sleep(0.1)


def test_verify_fails_when_the_kernel_says_something_else(fake):
    run("kernel", NAME, "--record")
    run("lab", "verify")
    fake.adds = 1
    with pytest.raises(RunFailed, match="no longer says what was recorded"):
        run("lab", "verify")


@pytest.mark.parametrize("door", ["record", "verify"])
def test_the_runs_of_one_design(fake, monkeypatch, door):
    run("kernel", NAME, "--record")
    fake.booted.clear()
    own = NAME.partition("/")[0]
    everyone = {own: {NAME: fake}, "another": {}, None: {NAME: fake}}
    monkeypatch.setattr(cli, "experiments", everyone.__getitem__)
    if door == "record":
        run("lab", door, "another")
    else:
        with pytest.raises(RunFailed, match="nothing was measured again"):
            run("lab", door, "another")
    assert not fake.booted
    run("lab", door, own)
    assert len(fake.booted) == 1
    monkeypatch.undo()
    with pytest.raises(BadInput, match=r"unknown design swop: takes one of swap, damon"):
        run("lab", door, "swop")


def test_verify_names_what_it_leaves_out_and_fails_when_it_checked_nothing(fake, monkeypatch):
    new = replace(fake, name="design/new", booted=[])
    alone = replace(new, name="design/alone", backends="model")
    every = {one.name: one for one in (fake, new, alone)}
    monkeypatch.setattr(cli, "experiments", lambda design=None: every)
    run("kernel", NAME, "--record")
    said = run("lab", "verify")
    assert "left out, for no run on our kernels is recorded: design/new\n" in said
    assert "1 runs, of a kind each: 1 passed, 0 failed, 0 undecided, 0 no model\n" in said
    assert not new.booted
    del every[NAME]
    with pytest.raises(RunFailed, match="nothing was measured again"):
        run("lab", "verify")


def test_a_disk_that_fills_up_is_one_line_and_status_1(fake, monkeypatch, capsys):
    def measure(requested, options=DEFAULTS):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/lorelab-x/lab/agent.py")

    monkeypatch.setattr(fake, "measure", measure)
    with pytest.raises(SystemExit) as ended:
        cli.main(lambda **options: cli.cli(["kernel", NAME], **options))
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (1, "")
    assert said.err.startswith("lorelab: No space left on device: /tmp/lorelab-x/lab/agent.py;")
    assert said.err.count("\n") == 1


def test_verify_takes_one_run_of_each_kind(fake):
    kinds = [{}, {"seed": 2}, {"options": "-s"}, {"options": "-a", "seed": 2}]
    for kind in kinds:
        run("kernel", NAME, *(f"-p{name}={value}" for name, value in kind.items()), "--record")
    samples = set()
    for seed in range(8):
        fake.booted.clear()
        run("lab", "verify", "--seed", str(seed))
        assert [bool(params.options) for params in fake.booted] == [False, True]
        samples.add(tuple(fake.booted))
    assert len(samples) > 1


def test_doctor_names_the_command_that_gets_what_is_missing(monkeypatch):
    lacking = needs.Need("no-such-command", "no-such-package", "nothing")
    monkeypatch.setattr(needs, "BOOT", [lacking])
    with pytest.raises(RunFailed, match="apt-get install --no-install-recommends no-such-package"):
        run("doctor")


def test_doctor_lists_the_packages():
    listed = run("doctor", "--packages").split()
    assert {"linux-source-6.12", "qemu-system-x86", "mmdebstrap"} <= set(listed)
