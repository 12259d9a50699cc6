"""The kernel's own tests: what the recorded runs have to be, and one that failed."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.gso.kernel import selftest
from lorelab.gso.params import Selftest
from lorelab.lab import records, run


def test_the_kernel_s_own_tests_passed():
    asked = experiment("gso/selftest")
    recorded = records.recorded("gso/selftest", Selftest)
    assert recorded
    for params in recorded:
        said = asked.recorded(params).counters.set_index("counter")["value"]
        assert said["run"] == said["passed"] == len(selftest.COMMANDS[params.test])
        assert said["checks"] == {"msg_zerocopy": 8, "udpgso": 14}[params.test]


def test_one_that_failed_is_no_record_and_says_why(monkeypatch):
    failed = {"passed": 0, "checks": 0, "failed": ["./udpgso.sh: exit status 1: no lo"]}
    monkeypatch.setattr(run, "measure", lambda *_: SimpleNamespace(rows=[failed]))
    with pytest.raises(RunFailed, match="exit status 1: no lo"):
        selftest.measure([Selftest(test="udpgso")])


@pytest.fixture
def guest():
    """The guest's half, loaded here."""
    file = Path(__file__).parents[3] / "lib/kernel/gso/guest/selftests.py"
    spec = spec_from_file_location("selftests", file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_a_script_leaves_behind_does_not_hold_up_the_next(guest, monkeypatch, tmp_path):
    monkeypatch.setattr(guest, "HERE", tmp_path)
    script = tmp_path / "waits.sh"
    script.write_text("#!/bin/sh\necho begun\nsleep 1000 &\nexit 3\n")
    script.chmod(0o755)
    assert guest.ended("./waits.sh") == (3, "begun\n")


def test_a_script_that_hangs_is_ended(guest, monkeypatch):
    monkeypatch.setattr(guest, "SECONDS", 0.2)
    assert guest.ended("sleep 1000") == (-14, "")
