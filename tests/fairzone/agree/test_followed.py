"""Walks that an oracle of the policy made, followed by the model; and ones that are wrong."""

import base64
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.fairzone.agree.followed import agree
from lorelab.fairzone.kernel.followed import EVENT, laid_out
from lorelab.fairzone.params import Followed

ZONES = [
    {"slot": 0, "managed": 3840, "low": 100, "high": 120, "reserve": 480, "reserve_dma32": 170},
    {"slot": 1, "managed": 44000, "low": 1000, "high": 1040, "reserve": 300, "reserve_dma32": 0},
    {"slot": 2, "managed": 80000, "low": 2000, "high": 2050, "reserve": 0, "reserve_dma32": 0},
]
THRESHOLD = 4
FAIR, RESET, FAST = 1, 2, 16


class Oracle:
    """The policy once more, with dictionaries and no sharing of code."""

    def __init__(self, mode: str):
        self.mode = mode
        self.batch = {zone["slot"]: zone["high"] - zone["low"] for zone in ZONES}
        self.part = dict.fromkeys(self.batch, 0)

    def add(self, slot: int, delta: int) -> None:
        self.part[slot] += delta
        if abs(self.part[slot]) > THRESHOLD:
            self.batch[slot] += self.part[slot]
            self.part[slot] = 0

    def ok(self, slot: int, free: list[int]) -> bool:
        return free[slot] > ZONES[slot]["low"] + ZONES[slot]["reserve"]

    def walk(self, free: list[int]) -> np.ndarray:
        event = np.zeros(1, EVENT)
        event["flags"], event["passes"], event["klass"] = FAST, 1, 3
        event["free"] = [*free, 0]
        zone = None
        if self.mode != "off":
            event["flags"] |= FAIR
            open_ones = [slot for slot in (2, 1, 0) if self.batch[slot] > 0]
            event["skipped"] = sum(1 << slot for slot in (2, 1, 0) if slot not in open_ones)
            zone = self.first(event, open_ones, free, 0)
            if zone is None and self.after(event, open_ones):
                event["passes"] = 2
                zone = self.first(event, (2, 1, 0), free, 1)
        else:
            zone = self.first(event, (2, 1, 0), free, 0)
        event["zone"] = 0xFF if zone is None else zone
        if zone is not None:
            self.add(zone, -1)
            event["batch"], event["diff"] = self.batch[zone], self.part[zone]
        return event

    def first(self, event, slots, free, which):
        for slot in slots:
            if self.ok(slot, free):
                return slot
            event["low"][0, which] |= 1 << slot
        return None

    def after(self, event, open_ones) -> bool:
        """Reset, if the mode says so; whether another pass follows."""
        reachable = [s for s in open_ones if self.ok(s, [zone["managed"] for zone in ZONES])]
        resets = {
            "baseline": True,
            "v1": not open_ones,
            "v1-local": not open_ones,
            "v1-reachable": not reachable,
            "merged": len(open_ones) < len(ZONES),
        }[self.mode]
        if resets:
            event["flags"] |= RESET
            for zone in ZONES:
                self.add(zone["slot"], zone["high"] - zone["low"] - self.batch[zone["slot"]])
        return resets or self.mode != "merged"


class Logged:
    """Stands for a record."""

    def __init__(self, counters: pd.DataFrame):
        self.counters = counters


PLENTY = [560, 2500, 3500]


def log(mode: str, seed: int, free: list[int] = PLENTY, walks: int = 600) -> np.ndarray:
    oracle, random, free = Oracle(mode), np.random.default_rng(seed), list(free)
    found = []
    for _ in range(walks):
        event = oracle.walk(free)
        found.append(event)
        if event["zone"][0] != 0xFF:
            free[event["zone"][0]] -= 1
        if random.random() < 0.01:
            free[int(random.integers(0, 3))] += int(random.integers(0, 200))
    return np.concatenate(found)


def table(events: np.ndarray) -> pd.DataFrame:
    piece = base64.b64encode(zlib.compress(events.tobytes())).decode()
    zones = [zone | {"threshold": THRESHOLD} for zone in ZONES]
    return laid_out([{"piece": piece, "logged": len(events)}], zones)


MODES = ["off", "baseline", "v1", "v1-local", "v1-reachable", "merged"]


@pytest.mark.parametrize("mode", MODES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_the_model_follows_the_oracle(mode: str, seed: int) -> None:
    found = agree(Followed(mode=mode), Logged(table(log(mode, seed))))
    assert found.verdict == "passed", found.judged


@pytest.mark.parametrize("mode", ["baseline", "v1"])
def test_another_mode_is_told_apart(mode: str) -> None:
    other = {"baseline": "v1-reachable", "v1": "baseline"}[mode]
    found = agree(Followed(mode=other), Logged(table(log(mode, 7))))
    assert found.verdict == "failed"


def test_merged_is_the_baseline_until_no_zone_is_skipped() -> None:
    """With every batch left and every zone below low, the baseline resets, and merged does not."""
    other = Followed(mode="baseline")
    assert agree(other, Logged(table(log("merged", 7)))).verdict == "passed"
    assert agree(other, Logged(table(log("merged", 7, free=[0, 0, 0])))).verdict == "failed"


@pytest.mark.parametrize("field", ["zone", "passes", "skipped", "batch", "diff", "flags"])
def test_one_wrong_walk_is_found(field: str) -> None:
    events = log("baseline", 3)
    [at] = np.flatnonzero(events["flags"] & RESET)[:1]
    events[field][at] ^= 2 if field == "flags" else 1
    found = agree(Followed(), Logged(table(events)))
    assert found.verdict == "failed"


def test_alike_walks_are_one_row_and_none_is_lost() -> None:
    events = log("baseline", 1)
    rows = table(events).query("kind == 'walk'")
    assert rows["count"].sum() == len(events)
    assert len(rows) < len(events)
