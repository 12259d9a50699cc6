"""A few packets on booted kernels: the guest's programs, the switch, each counter and the probe.

Nothing here is asserted of time. The guest waits until a packet has come; it gives one up after 1.5
seconds of its own clock without any, some hundred times what one takes under emulation.
"""

import pytest

from lorelab.experiments import experiment
from lorelab.gso.model.traffic import PROBED
from lorelab.gso.params import Told, Traffic
from lorelab.judging.agreement import AgreementVerdict

FEW = {"sends": 2, "length": 4200}
"""Three segments each."""


@pytest.fixture(scope="module", autouse=True)
def kernel(patched):
    return patched("gso")


def measured(name, *wanted):
    """Every run agrees; the counters that each has."""
    asked = experiment(name)
    found = asked.measure(list(wanted))
    for params, record in zip(wanted, found, strict=True):
        held = asked.agree(params, record)
        assert held.verdict == AgreementVerdict.PASSED, (params, held.method, held.table)
    return [set(record.counters["counter"]) for record in found]


def test_packets_over_links_with_a_reader_and_without():
    wanted = [
        Traffic(**FEW, tap=True),
        Traffic(**FEW, variant="orphan"),
        Traffic(**FEW, received=True),
    ]
    unread, copied, read = measured("gso/traffic", *wanted)
    assert unread == copied == set(PROBED) - {"wrong"}
    assert read == set(PROBED)


def test_what_a_sender_hears():
    [late, each] = measured("gso/told", Told(sends=4), Told(sends=4, late=False))
    assert late == each


def test_the_probe():
    [found] = measured("gso/probed", Traffic(**FEW))
    assert "probe_completions_1" in found
    assert "packets_by_segments" in found
