"""The kernel's own tests: what the recorded runs have to be, and one that failed."""

import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.gso.kernel import selftest
from lorelab.gso.params import Selftest
from lorelab.lab import records


def test_the_kernel_s_own_tests_passed():
    asked = experiment("gso/selftest")
    recorded = records.recorded("gso/selftest", Selftest)
    assert recorded
    for params in recorded:
        said = asked.recorded(params).counters.set_index("counter")["value"]
        assert said["run"] == said["passed"] == len(selftest.COMMANDS[params.test])
        assert said["checks"] == {"msg_zerocopy": 8, "udpgso": 14}[params.test]


def test_one_that_failed_is_no_record_and_says_why(monkeypatch):
    class Measured:
        rows = [{"passed": 0, "checks": 0, "failed": ["./udpgso.sh: exit status 1: no lo"]}]  # noqa: RUF012

    monkeypatch.setattr(selftest, "boot", lambda *_, **__: Measured)
    with pytest.raises(RunFailed, match="exit status 1: no lo"):
        selftest.measure([Selftest(test="udpgso")])
