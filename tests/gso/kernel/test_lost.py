"""Two CPUs that complete segments of one packet: what the guest is asked, and what comes of it."""

from types import SimpleNamespace

import pytest

from lorelab.errors import RunFailed
from lorelab.gso.kernel import lost
from lorelab.gso.params import Lost

ROW = {
    "told": 16,
    "lost": 1,
    "lent": 16,
    "arrived": 64,
    "sent": 64,
    "complaints": {"BUG: KCSAN: data-race": 2},
}


def counted(row, **params):
    return lost._counters(Lost(**params), SimpleNamespace(rows=[row]), 0)


def test_what_the_sender_was_told_and_what_the_kernel_said():
    table = counted(ROW, sends=16).set_index("counter")["value"]
    assert table.to_dict() == {
        "told": 16, "lost": 1, "sent": 64, "arrived": 64, "kernel: BUG: KCSAN: data-race": 2,
    }  # fmt: skip


def test_a_bridge_that_copies_by_itself_is_no_run():
    with pytest.raises(RunFailed, match="12 of 16 sends lend their pages"):
        counted(ROW | {"lent": 12}, sends=16)


def test_the_guest_has_two_cpus_and_kcsan_looks_at_the_run_alone():
    request = lost._request([Lost(sends=16, segments=3, config="kcsan")])
    assert request.machine.cpus == 2
    assert request.config == "kcsan"
    assert request.machine.append == ("kcsan.early_enable=0",)
    assert request.job.params == {"runs": [{"rounds": 2, "segments": 3, "segment": 1400}]}
    assert lost._request([Lost()]).config is None
