"""`lorelab kernel`, `lab` and `doctor`, with an experiment whose kernel is a function."""

from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner
from tests.lab.test_records import NAME, Some, record

from lorelab import cli
from lorelab.counters import table
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import needs, records


@dataclass
class Fake:
    """Stands for an Experiment: counts up from the seed, plus whatever the kernel `adds`."""

    adds: int = 0
    name: str = NAME
    Params: type = Some
    booted: list = field(default_factory=list)
    image: object = None

    def measure(self, wanted, image=None):
        self.image = image
        self.booted += wanted
        return [record(p, [p.seed + self.adds, p.seed]) for p in wanted]

    def recorded(self, params):
        return records.load(self.name, params)

    def simulate(self, params):
        return table(NAME, "v", "model", {"swpout": ("folios", [params.seed, params.seed])})


@pytest.fixture
def fake(monkeypatch, tmp_path):
    one = Fake()
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(cli, "experiments", lambda: {NAME: one})
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


def test_agree_takes_the_record_and_boots_without_one_or_when_told(fake):
    run("agree", NAME)
    assert len(fake.booted) == 1
    run("kernel", NAME, "--record")
    run("agree", NAME)
    assert len(fake.booted) == 2
    run("agree", NAME, "--live")
    assert len(fake.booted) == 3


def test_a_kernel_of_ones_own_is_booted_and_never_recorded(fake, tmp_path):
    run("kernel", NAME, "--record")
    run("agree", NAME, "--kernel", "bzImage")
    assert len(fake.booted) == 2
    assert str(fake.image) == "bzImage"
    with pytest.raises(BadInput, match="--record keeps runs of the laboratory's own"):
        run("kernel", NAME, "--record", "--kernel", "bzImage")
    assert len(fake.booted) == 2


def test_agree_fails_on_one_step_that_differs(fake):
    fake.adds = 1
    with pytest.raises(RunFailed, match="model and kernel differ"):
        run("agree", NAME)


def test_record_measures_every_recorded_run_again(fake, tmp_path):
    for seed in (1, 2):
        run("kernel", NAME, "-p", f"seed={seed}", "--record")
    fake.booted.clear()
    run("lab", "record")
    assert {params.seed for params in fake.booted} == {1, 2}
    assert len(list((tmp_path / NAME).glob("*.csv"))) == 2


def test_verify_fails_when_the_kernel_says_something_else(fake):
    run("kernel", NAME, "--record")
    run("lab", "verify")
    fake.adds = 1
    with pytest.raises(RunFailed, match="no longer says what was recorded"):
        run("lab", "verify")


def test_doctor_names_the_command_that_gets_what_is_missing(monkeypatch):
    lacking = needs.Need("no-such-command", "no-such-package", "nothing")
    monkeypatch.setattr(needs, "BOOT", [lacking])
    with pytest.raises(RunFailed, match="apt-get install --no-install-recommends no-such-package"):
        run("doctor")


def test_doctor_lists_the_packages():
    listed = run("doctor", "--packages").split()
    assert {"linux-source-6.12", "qemu-system-x86", "mmdebstrap"} <= set(listed)
