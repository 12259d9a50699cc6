"""swap/usemem on a kernel: what no guest can follow, and what was recorded."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.params import parse
from lorelab.swap.kernel.usemem import IN_THE_GUEST
from lorelab.swap.params import Usemem

REPEATED = records.recorded("swap/usemem", Usemem)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "variant=v3: the guest is an x86"),
        ({"variant": "v6.12"}, "architecture=arm64: the guest is an x86"),
        ({**IN_THE_GUEST, "processes": 3}, "processes=3"),
        ({**IN_THE_GUEST, "swap_mib": 1024}, "swap_mib=1024"),
    ],
)
def test_what_no_guest_can_follow(given, said):
    with pytest.raises(BadInput, match=said):
        experiment("swap/usemem").measure([parse(Usemem, given)])


def test_repeats_of_one_cpu_are_recorded():
    assert {p.folio_order for p in REPEATED if p.cpus == 1} == {0, 4}
