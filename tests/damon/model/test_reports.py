"""Reports of sampled accesses: against an oracle that steps through every access, and by hand."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.damon.model import reports
from lorelab.damon.params import Accuracy, Speeds, Variant
from lorelab.damon.workload import masim, setup
from lorelab.numerics import U
from tests.damon.model.test_core import RUNS
from tests.damon.oracle_v7_3 import PAGE, Kdamond73

SIZE = 64 * PAGE
SPEEDS = Speeds(access_ns=1000)
RING = reports.DAMON_REPORT_RING_SIZE - 1
WORD = 2**64 - 1


@dataclass
class Unit:
    """A sampling unit in plain Python, which is shown every access."""

    period: int
    skid: int
    loss: float
    stall: float
    state: int
    due: int = 0

    def below(self, n):
        self.state = self.state + 0x9E3779B97F4A7C15 & WORD
        z = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
        return ((z ^ z >> 31) >> 32) * n >> 32

    def chance(self, share):
        return self.below(2**32) < int(share * 2**32)

    def interval(self, accesses):
        """Addresses that an interval leaves for kdamond."""
        stalled, found = self.chance(self.stall), []
        for address in accesses:
            if self.due:
                self.due -= 1
                continue
            self.due = self.below(2 * self.period - 1)
            if not self.chance(self.loss) and not stalled and len(found) < RING:
                found.append(address + self.below(2 * self.skid + 1) - self.skid)
        return found


class Reported(Kdamond73):
    """kdamond that counts reports in place of checking pages."""

    def one_interval(self, addresses):
        self.passed += 1
        for r in self.all():
            r.nr_accesses += any(r.start <= address < r.end for address in addresses)
        return self.after_checks(max(r.nr_accesses for r in self.all()))


def program(tmp_path, text=f"a, {SIZE}\n\nall\n1000\na, 0, 4096, 1\n"):
    """Parameters, memory and context of a program that is about to start."""
    (tmp_path / "program").write_text(text)
    params = Accuracy(
        workload=str(tmp_path / "program"), variant=Variant.V7_3, sample_us=1000, aggr_us=10_000
    )
    pages = setup.memory(params, setup.configuration(params), SPEEDS, truth=True)
    return params, pages, setup.context(params, pages)


def started(params, pages, ctx):
    """The oracle, as far as the model is."""
    attrs = (1000, 10_000, params.update_us, params.min_regions, params.max_regions)
    words = [int(word) for word in ctx.rnd_state]
    mappings = [[(int(start), int(end)) for _, start, end in pages.vmas]]
    kdamond = Reported(mappings, attrs, words, None)
    kdamond.start()
    return kdamond


UNITS = st.builds(
    Unit,
    period=st.integers(1, 300),
    skid=st.sampled_from([0, 1, PAGE, SIZE]),
    loss=st.sampled_from([0, 0.3, 0.9]),
    stall=st.sampled_from([0, 0.5]),
    state=st.integers(0, WORD),
)


@RUNS
@given(UNITS)
def test_reports_and_regions_are_those_of_every_single_access(tmp_path_factory, unit):
    params, pages, ctx = program(tmp_path_factory.mktemp("masim"))
    kdamond = started(params, pages, ctx)
    hardware = reports.new_hardware(unit.period, unit.skid, unit.loss, unit.stall, unit.state)
    windows = reports.reported(ctx, pages, hardware)
    start, place = int(pages.patterns["start"][0]), 0
    around = int(pages.patterns["around"][0])
    for _ in range(12):
        arrived = 0
        for _ in range(10):
            accesses = [start + n % around * PAGE for n in range(place, place + 1000)]
            place += 1000
            addresses = unit.interval(accesses)
            arrived += len(addresses)
            over = kdamond.one_interval(addresses)
        assert over
        window = next(windows)
        assert window.checks == arrived and window.samples == 10
        assert window.regions.tolist() == kdamond.aggregated


def test_a_report_counts_for_all_of_its_region_and_once(tmp_path):
    _, _, ctx = program(tmp_path)
    first = int(ctx.regions["next"][0])
    regions = ctx.regions[first : first + 1]
    inside = np.full(5, regions["start"][0], U)
    assert reports.kdamond_check_reported_accesses(ctx, inside) == 1
    assert ctx.regions["nr_accesses"].sum() == regions["nr_accesses"][0] == 1
    assert reports.kdamond_check_reported_accesses(ctx, np.array([1], U)) == 1


@pytest.mark.parametrize(
    ("unit", "left"),
    [
        ({"period": 1}, RING),
        ({"period": 10}, 100),
        ({"period": 10, "loss": 1.0}, 0),
        ({"period": 10, "stall": 1.0}, 0),
        ({"period": 10, "loss": 0.5}, 50),
    ],
)
def test_what_a_full_ring_and_a_loss_leave(tmp_path, unit, left):
    _, pages, ctx = program(tmp_path)
    hardware = reports.new_hardware(**unit)
    window = next(reports.reported(ctx, pages, hardware))
    assert window.checks == pytest.approx(10 * left, rel=0.2)
    assert hardware["samples"][0] == pytest.approx(10_000 / unit["period"], rel=0.15)


def test_random_accesses_are_reported_where_they_may_be(tmp_path):
    text = f"a, {SIZE}\nb, {SIZE}\n\nall\n1000\nb, 1, 64, 1\n"
    params, pages, ctx = program(tmp_path, text)
    hardware, ring = reports.new_hardware(5), np.zeros(RING, U)
    reports.reported_window(ctx, pages, hardware, ring)
    low = masim.starts(setup.configuration(params))["b"]
    reports_of_last = ring[ring > 0]
    assert reports_of_last.min() >= low and reports_of_last.max() < low + SIZE
    assert len(np.unique(reports_of_last // U(PAGE))) > 32
