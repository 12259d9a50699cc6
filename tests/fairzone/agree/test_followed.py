"""Walks that an oracle of the policy made, followed by the model; and ones that are wrong."""

import base64
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.fairzone.agree.followed import agree
from lorelab.fairzone.kernel.followed import EVENT, log_table
from lorelab.fairzone.params import Followed

ZONES = [
    {"slot": 0, "managed": 3840, "low": 100, "high": 120, "reserve": 480, "reserve_dma32": 170},
    {"slot": 1, "managed": 44000, "low": 1000, "high": 1040, "reserve": 300, "reserve_dma32": 0},
    {"slot": 2, "managed": 80000, "low": 2000, "high": 2050, "reserve": 0, "reserve_dma32": 0},
]
MOVABLE = [
    {"slot": 0, "managed": 3840, "low": 100, "high": 120, "reserve": 480, "reserve_dma32": 170},
    {"slot": 1, "managed": 44000, "low": 1000, "high": 1040, "reserve": 300, "reserve_dma32": 0},
    {"slot": 3, "managed": 80000, "low": 2000, "high": 2050, "reserve": 0, "reserve_dma32": 0},
]
THRESHOLD = 4
NORMAL, MOVES = 2, 3
"""Classes of allocation: the highest zone that may serve."""
FAIR, RESET, BULK, FAST = 1, 2, 8, 16


class Oracle:
    """The policy once more, with dictionaries and no sharing of code."""

    def __init__(self, mode: str, zones: list[dict]):
        self.mode = mode
        self.zones = {zone["slot"]: zone for zone in zones}
        self.batch = {zone["slot"]: zone["high"] - zone["low"] for zone in zones}
        self.part = dict.fromkeys(self.batch, 0)

    def add(self, slot: int, delta: int) -> None:
        self.part[slot] += delta
        if abs(self.part[slot]) > THRESHOLD:
            self.batch[slot] += self.part[slot]
            self.part[slot] = 0

    def ok(self, slot: int, free: int, klass: int) -> bool:
        zone = self.zones[slot]
        kept = zone["reserve"] if klass >= max(self.zones) else zone["reserve_dma32"]
        return free > zone["low"] + kept

    def walk(self, free: dict[int, int], klass: int) -> np.ndarray:
        event = np.zeros(1, EVENT)
        event["flags"], event["passes"], event["klass"] = FAST, 1, klass
        for slot, pages in free.items():
            event["free"][0, slot] = pages
        every = [slot for slot in sorted(self.zones, reverse=True) if slot <= klass]
        if self.mode != "off":
            event["flags"] |= FAIR
            open_ones = [slot for slot in every if self.batch[slot] > 0]
            zone = self.first(event, open_ones, free, 0)
            came_to = every if zone is None else every[: every.index(zone)]
            event["skipped"] = sum(1 << slot for slot in came_to if slot not in open_ones)
            if zone is None and self.after(event, open_ones, every):
                event["passes"] = 2
                zone = self.first(event, every, free, 1)
        else:
            zone = self.first(event, every, free, 0)
        event["zone"] = 0xFF if zone is None else zone
        if zone is not None:
            self.add(zone, -1)
            event["batch"], event["diff"] = self.batch[zone], self.part[zone]
        return event

    def first(self, event, slots, free, which):
        for slot in slots:
            if self.ok(slot, free[slot], event["klass"][0]):
                return slot
            event["low"][0, which] |= 1 << slot
        return None

    def after(self, event, open_ones, every) -> bool:
        """Reset, if the mode says so; whether another pass follows."""
        klass = event["klass"][0]
        reachable = [s for s in open_ones if self.ok(s, self.zones[s]["managed"], klass)]
        resets = {
            "baseline": True,
            "v1": not open_ones,
            "v1-local": not open_ones,
            "v1-reachable": not reachable,
            "fixed": len(open_ones) < len(every),
        }[self.mode]
        if resets:
            event["flags"] |= RESET
            for slot in every:
                zone = self.zones[slot]
                self.add(slot, zone["high"] - zone["low"] - self.batch[slot])
        return resets or self.mode != "fixed"


class Logged:
    """Stands for a record."""

    def __init__(self, counters: pd.DataFrame):
        self.counters = counters


PLENTY = [560, 2500, 3500]


def log(
    mode: str,
    seed: int,
    free: list[int] = PLENTY,
    zones: list[dict] = ZONES,
    classes: tuple[int, ...] = (MOVES,),
) -> np.ndarray:
    oracle, random = Oracle(mode, zones), np.random.default_rng(seed)
    left = dict(zip((zone["slot"] for zone in zones), free, strict=True))
    found = []
    for _ in range(600):
        event = oracle.walk(left, int(random.choice(classes)))
        found.append(event)
        if event["zone"][0] != 0xFF:
            left[event["zone"][0]] -= 1
        if random.random() < 0.01:
            left[int(random.choice(list(left)))] += int(random.integers(0, 200))
    return np.concatenate(found)


def table(events: np.ndarray, zones: list[dict] = ZONES) -> pd.DataFrame:
    piece = base64.b64encode(zlib.compress(events.tobytes())).decode()
    told = [zone | {"threshold": THRESHOLD} for zone in zones]
    return log_table([{"piece": piece, "logged": len(events)}], told)


MODES = ["off", "baseline", "v1", "v1-local", "v1-reachable", "fixed"]


@pytest.mark.parametrize("mode", MODES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_the_model_follows_the_oracle(mode: str, seed: int) -> None:
    found = agree(Followed(mode=mode), Logged(table(log(mode, seed))))
    assert found.verdict == "passed", found.method


@pytest.mark.parametrize("mode", MODES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_two_classes_share_the_batches(mode: str, seed: int) -> None:
    """With a movable zone: allocations for Normal never come to it, and do not reset its batch."""
    events = log(mode, seed, zones=MOVABLE, classes=(NORMAL, MOVES, MOVES))
    assert set(events["klass"]) == {NORMAL, MOVES}
    assert not (events["zone"][events["klass"] == NORMAL] == MOVES).any()
    asked = Followed(mode=mode, layout="movable")
    found = agree(asked, Logged(table(events, MOVABLE)))
    assert found.verdict == "passed", found.method
    wrong = events.copy()
    wrong["klass"] = MOVES
    assert agree(asked, Logged(table(wrong, MOVABLE))).verdict == "failed"


@pytest.mark.parametrize("mode", ["baseline", "v1"])
def test_another_mode_is_told_apart(mode: str) -> None:
    other = {"baseline": "v1-reachable", "v1": "baseline"}[mode]
    found = agree(Followed(mode=other), Logged(table(log(mode, 7))))
    assert found.verdict == "failed"


def test_merged_is_the_baseline_until_no_zone_is_skipped() -> None:
    """With every batch left and every zone below low, the baseline resets, and merged does not."""
    other = Followed(mode="baseline")
    assert agree(other, Logged(table(log("fixed", 7)))).verdict == "passed"
    assert agree(other, Logged(table(log("fixed", 7, free=[0, 0, 0])))).verdict == "failed"


@pytest.mark.parametrize("field", ["zone", "passes", "skipped", "batch", "diff", "flags"])
def test_one_wrong_walk_is_found(field: str) -> None:
    events = log("baseline", 3)
    [at] = np.flatnonzero(events["flags"] & RESET)[:1]
    events[field][at] ^= 2 if field == "flags" else 1
    found = agree(Followed(), Logged(table(events)))
    assert found.verdict == "failed"


def test_what_was_not_compared_is_not_counted() -> None:
    """Batch and diff are known of the last of alike walks, where a zone gave the page."""
    rows = table(log("baseline", 3)).query("kind == 'walk'")
    found = agree(Followed(), Logged(table(log("baseline", 3))))
    counts = found.table.set_index("counter")
    last = int((rows["zone"] < 255).sum())
    assert 0 < last < rows["count"].sum() / 2
    assert (counts.loc[["batch", "diff"], ["compared", "same"]] == last).all(axis=None)
    rest = counts.drop(index=["batch", "diff"])
    assert (rest[["walks", "compared", "same"]] == rows["count"].sum()).all(axis=None)
    assert f"batch, diff of {last} of {last} compared" in found.method
    assert not counts["input"].any()


def test_of_a_bulk_allocation_the_zone_is_given_and_no_walk_is_compared() -> None:
    events = log("baseline", 3)[:40]
    assert (events["zone"] == 2).all()
    bulk = events[:1].copy()
    bulk["flags"], bulk["order"], bulk["passes"] = BULK, 3, 0
    bulk["batch"], bulk["diff"] = events["batch"][-1], events["diff"][-1] - 3
    if bulk["diff"] < -THRESHOLD:
        bulk["batch"], bulk["diff"] = bulk["batch"] + bulk["diff"], 0
    with_it = table(np.concatenate([events, bulk]))
    counts = agree(Followed(), Logged(with_it)).table.set_index("counter")
    assert counts["agrees"].all()
    assert counts.loc["zone", "input"] == 1 and counts["input"].sum() == 1
    assert (counts.loc[["zone", "passes", "reset"], "compared"] == 40).all()
    wrong = with_it.copy()
    wrong.loc[wrong.index[-1], "batch"] += 1
    assert agree(Followed(), Logged(wrong)).verdict == "failed"


@pytest.mark.parametrize("order", [0, 1])
def test_watermarks_of_several_pages_are_inputs(order: int) -> None:
    events = log("baseline", 3)[:1].copy()
    events["order"] = order
    events["batch"], events["diff"] = 50, -(2**order)
    counts = agree(Followed(), Logged(table(events))).table.set_index("counter")
    assert counts["agrees"].all()
    assert counts.loc["skips_watermark", ["compared", "input"]].tolist() == [1, order]


def test_alike_walks_are_one_row_and_none_is_lost() -> None:
    events = log("baseline", 1)
    rows = table(events).query("kind == 'walk'")
    assert rows["count"].sum() == len(events)
    assert len(rows) < len(events)
