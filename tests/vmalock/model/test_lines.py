"""A cache line of the performance model: what is done one CPU at a time, and what at once."""

import pytest

from lorelab.params import label
from lorelab.vmalock.experiments import contention
from lorelab.vmalock.model import lines
from lorelab.vmalock.model.state import U
from lorelab.vmalock.params import Contention, Variant
from tests.vmalock.model.test_invariants import counted, made
from tests.vmalock.model.test_oracle import COSTS

LINE, REMOTE, LOCAL = U(0), COSTS["remote"], COSTS["local"]


@pytest.fixture
def written():
    """A machine whose line CPU 0 has written, at 5 ns."""
    m = made(Variant.V6_12, 8, 8, 1, [{}] * 8)
    lines.write(m, LINE, U(0))
    m.globals["now"] = 1000
    return m


def reads(m, cpu):
    return int(lines.read(m, LINE, U(cpu), U(1000)))


def test_the_first_reader_takes_the_line_and_the_others_fetch_it_at_once(written):
    assert reads(written, 1) == 1000 + REMOTE
    assert {reads(written, cpu) for cpu in (2, 3, 4)} == {1000 + 2 * REMOTE}
    assert counted(written)["remote"] == 5
    assert reads(written, 4) == 1000


def test_a_reader_of_a_shared_line_keeps_nobody_waiting(written):
    reads(written, 1)
    for cpu in (2, 3, 4):
        reads(written, cpu)
    assert lines.write(written, LINE, U(5)) == 1000 + 2 * REMOTE


def test_writers_go_one_at_a_time(written):
    assert [int(lines.write(written, LINE, U(cpu))) - 1000 for cpu in (1, 2, 3)] == [
        REMOTE,
        2 * REMOTE,
        3 * REMOTE,
    ]


def test_a_write_after_a_read_makes_readers_fetch_again(written):
    reads(written, 1)
    # The line is shared, so even who wrote it last must have it alone again.
    assert lines.write(written, LINE, U(0)) == 1000 + 2 * REMOTE
    assert reads(written, 1) == 1000 + 3 * REMOTE


def test_a_sequence_that_all_faults_read_does_not_hold_128_cpus_up():
    given = {"cpus": 128, "threads": 128, "vmas": 128, "writer_share": 0.01, "ms": 3}
    rates = {
        label(variant): contention.simulate(Contention(variant=variant, **given))
        .set_index("counter")
        .loc["fault_rate", "value"]
        for variant in (Variant.VMA_RWSEM, Variant.V6_12)
    }
    assert rates["v6.12"] > 0.95 * rates["vma-rwsem"]
