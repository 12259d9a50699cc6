"""The thread's figures, and what their digits leave open.

A printed figure stands for every number that rounds to it. Two of them that describe one run
(volume and bandwidth) have to fit together; what they allow together is narrower than either.
"""

from functools import partial
from typing import NamedTuple

from lorelab.judging import threads

GIB = 1 << 30


class Span(NamedTuple):
    """Numbers from `low` to `high`."""

    low: float
    high: float

    def meet(self, other: "Span") -> "Span":
        """What both allow; empty (`low > high`) if they contradict each other."""
        return Span(max(self.low, other.low), min(self.high, other.high))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high


figure = partial(threads.figure, "gso")
"""Value of one printed figure, by its row in data/threads/gso.csv."""


def printed(id: str, digits: int) -> Span:
    """All numbers that print as a figure does, with so many digits behind the point."""
    half = 0.5 * 10.0**-digits
    return Span(figure(id) - half, figure(id) + half)


def volume_rate(kernel: str) -> Span:
    """Bandwidth that follows from volume over time [Mbit/s] of `base` or `patched`."""
    volume, seconds = printed(f"{kernel}-volume", 1), printed(f"{kernel}-seconds", 1)
    bits = 8 * GIB / 1e6
    return Span(volume.low * bits / seconds.high, volume.high * bits / seconds.low)


def printed_rate(kernel: str) -> Span:
    """Bandwidth as printed [Mbit/s]."""
    if kernel == "base":
        return printed("base-bandwidth", 0)
    rate = printed("patched-bandwidth", 2)
    return Span(1000 * rate.low, 1000 * rate.high)


def rate(kernel: str) -> Span:
    """Bandwidth that all printed digits allow together [Mbit/s]."""
    return volume_rate(kernel).meet(printed_rate(kernel))


def gain() -> Span:
    """Improvement that all printed digits allow together [%]."""
    base, patched = rate("base"), rate("patched")
    return Span(100 * (patched.low / base.high - 1), 100 * (patched.high / base.low - 1))
