"""What the guest says of `damon/hotspot`."""

import pytest

from lorelab.damon.kernel import hotspot as kernel_hotspot
from lorelab.damon.params import Hotspot, Speeds
from lorelab.damon.workload import hotspot
from lorelab.errors import BadInput

FIRST, OTHER = 70, 71


def row(*windows, **changes):
    """What the guest says of a run; a window: kdamond, time, regions, cuttable, draws, held."""
    said = {"first": FIRST, "ns": 9_000, "worked": 1_000, "sleeps": 2, "checks": 10, "draws": 1}
    return {**said, "wide": [0, 0], "windows": [list(window) for window in windows], **changes}


def test_a_range_is_found_by_the_first_kdamond_alone():
    params = Hotspot(hot_kib=4, windows=9, own=True)
    half = 2048
    said = row(
        (FIRST, 1, 10, 8, 8, 0),
        (OTHER, 2, 11, 8, 8, 4096),
        (FIRST, 3, 12, 8, 16, half - 1),
        (FIRST, 5, 14, 8, 16, half),
        (FIRST, 7, 99, 8, 16, half),
    )
    assert kernel_hotspot.outcome(params, said) == hotspot.Outcome(3, 12.0, 0.5)
    never = kernel_hotspot.outcome(params, row((FIRST, 1, 10, 8, 8, 0)))
    assert never.wait == 0
    counted = hotspot.counted(params, [kernel_hotspot.outcome(params, said), never])
    assert counted["wait"][1] == [3, 10]
    assert counted["isolated"][1] == [0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_windows_given_up_are_not_looked_at():
    params = Hotspot(hot_kib=4, windows=1, own=True)
    said = row((FIRST, 1, 10, 8, 8, 0), (FIRST, 2, 10, 8, 8, 4096))
    assert kernel_hotspot.outcome(params, said).wait == 0


def test_a_cut_follows_from_the_last_count_of_all_or_of_its_own():
    # The other's cut comes between, of another number: two pieces where its own last says three.
    windows = [(FIRST, 1, 10, 8, 8, 0), (OTHER, 2, 11, 8, 8, 0), (FIRST, 3, 10, 8, 8, 0)]
    assert kernel_hotspot.cuts(row(*windows)) == (1, 1, 0)
    alone = [windows[0], (FIRST, 3, 10, 8, 16, 0)]
    assert kernel_hotspot.cuts(row(*alone)) == (1, 1, 1)
    assert kernel_hotspot.cuts(row(*reversed(windows))) == (1, 1, 0)


def test_speeds_are_of_what_is_left_of_the_time():
    assert kernel_hotspot.speeds(row()) == Speeds(8_000 / 131_072, 100, 4)


@pytest.mark.parametrize(
    "params",
    [
        Hotspot(),
        Hotspot(own=True, hot_kib=8 << 20, mib=1 << 20),
        Hotspot(own=True, variant="split-2"),
        Hotspot(own=True, hot_kib=1 << 20),
    ],
)
def test_what_no_kernel_can_follow_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel_hotspot.measure([params])
