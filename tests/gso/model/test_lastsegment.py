"""The last segment's place, drawn again in plain Python."""

import numpy as np
import pytest

from lorelab.gso.experiments import lastsegment
from lorelab.gso.model.lastsegment import draw
from lorelab.gso.params import LastSegment

MASK = 2**64 - 1


def splitmix(state):
    z = state
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> shift)) * factor & MASK
    return z ^ (z >> 31)


def drawn(segments, packets, seed):
    """By place of the last segment, packets; each from a list from which segments are taken."""
    places, numbers = [0] * segments, 0
    for _ in range(packets):
        left, order = list(range(segments)), []
        while len(left) > 1:
            numbers += 1
            other = splitmix((seed + numbers * 0x9E3779B97F4A7C15) & MASK) % len(left)
            left[0], left[other] = left[other], left[0]
            order.append(left.pop(0))
        places[(order + left).index(segments - 1)] += 1
    return places


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@pytest.mark.parametrize("segments", [1, 2, 3, 5, 64])
def test_places(segments, seed):
    places = np.zeros(segments, np.uint64)
    draw(np.uint64(segments), np.uint64(50), np.uint64(seed), places)
    assert places.tolist() == drawn(segments, 50, seed)
    draw(np.uint64(segments), np.uint64(50), np.uint64(seed), places)
    assert places.tolist() == [2 * n for n in drawn(segments, 50, seed)]


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_what_was_exposed(segments):
    table = lastsegment.simulate(LastSegment(segments=segments, packets=50, seed=3))
    places = drawn(segments, 50, 3)
    exposed = sum(n * (segments - 1 - place) for place, n in enumerate(places))
    values = dict(zip(table["counter"], table["value"], strict=True))
    assert values == {"unsafe": 50 - places[-1], "exposed": exposed}
