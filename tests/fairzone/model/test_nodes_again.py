"""The two nodes written again, with queues and plain numbers, and random machines in both."""

import random
from collections import deque

import numpy as np
import pytest

from lorelab.fairzone.model import nodes
from lorelab.numerics import U

SEEDS = 24
COUNTED = ("state", "nap", "priority", "credit", "woken")
QUICKLY = ("low_wmark_hit_quickly", "high_wmark_hit_quickly")


class Kswapd:
    """That of one node: what it does, what is left of it, and its pages, the oldest first."""

    def __init__(self):
        self.state = self.nap = self.priority = self.credit = self.woken = 0
        self.low_wmark_hit_quickly = self.high_wmark_hit_quickly = 0
        self.round, self.lru = None, deque()

    def starts(self):
        self.state, self.priority, self.round, self.credit = 2, 12, None, 0


class Machine:
    """Zones are dictionaries."""

    def __init__(self, zones, zonelist, nap, every, demotes=False, weights=(0, 0)):
        self.zones, self.zonelist, self.nap, self.every = zones, zonelist, nap, every
        self.kswapd, self.direct = [Kswapd(), Kswapd()], 0
        self.demotes, self.demoted, self.read = demotes, 0, 0
        self.turns = [node for node, weight in enumerate(weights) for _ in range(weight)] or [0]

    def balanced(self, node):
        mine = [zone for zone in self.zones if zone["node"] == node]
        if self.every:
            return all(zone["free"] > zone["high"] for zone in mine)
        return any(zone["free"] - zone["reserve"] > zone["high"] for zone in mine)

    def finds(self, mark, nodes):
        zones = [self.zones[z] for node in nodes for z in self.zonelist]
        zones = [zone for zone in zones if zone["node"] in nodes]
        zones.sort(key=lambda zone: nodes.index(zone["node"]))
        return next((zone for zone in zones if zone["free"] - zone["reserve"] > zone[mark]), None)

    def wakes(self, node):
        kswapd = self.kswapd[node]
        if kswapd.state != 2 and not self.balanced(node):
            kswapd.woken += 1
            kswapd.low_wmark_hit_quickly += kswapd.state == 1
            kswapd.starts()

    def frees(self, node, most):
        lru, freed = self.kswapd[node].lru, 0
        while lru and freed < most:
            zone, page = lru.popleft()
            zone["free"] += 1
            freed += 1
            if self.demotes and node == 0:
                there = self.finds("low", [1])
                if there is None:
                    self.wakes(1)
                    there = self.finds("min", [1])
                if there is not None:
                    self.demoted += 1
                    self.takes(there, page)
        return freed

    def takes(self, zone, page):
        zone["free"] -= 1
        self.kswapd[zone["node"]].lru.append((zone, page))

    def allocates(self):
        prefers = self.turns[0]
        self.turns = [*self.turns[1:], prefers]
        nodes = [prefers, 1 - prefers]
        zone = self.finds("low", nodes)
        if zone is None:
            for node in (0, 1):
                self.wakes(node)
            zone = self.finds("min", nodes)
        if zone is None:
            self.direct += 1
            for node in (0, 1):
                self.frees(node, 32)
            zone = self.finds("min", nodes)
        if zone is None:
            return False
        zone["allocated"] += 1
        self.takes(zone, self.read)
        self.read += 1
        return True

    def reclaims(self, node):
        kswapd = self.kswapd[node]
        enough = sum(max(zone["high"], 32) for zone in self.zones if zone["node"] == node)
        while kswapd.credit > 0:
            if kswapd.round is None:
                if self.balanced(node):
                    kswapd.state, kswapd.nap = 1, self.nap
                    return
                kswapd.round = [len(kswapd.lru) >> kswapd.priority, 0]
            left, before = kswapd.round
            freed = self.frees(node, min(left, 32))
            kswapd.credit -= 1024 * (freed or 1)
            kswapd.round = [max(left - 32, 0), before + freed]
            if left <= 32 or before + freed >= enough:
                # All that it looks at is clean, so what it has looked at it has freed.
                kswapd.priority -= before + freed < enough
                kswapd.priority = kswapd.priority or 12
                kswapd.round = None

    def reads(self, pages, burst, rate):
        for done in range(0, pages, burst):
            for _ in range(burst):
                if not self.allocates():
                    return done
            for node, kswapd in enumerate(self.kswapd):
                if kswapd.state == 1 and kswapd.nap > burst:
                    kswapd.nap -= burst
                elif kswapd.state == 1 and self.balanced(node):
                    kswapd.state = 0
                elif kswapd.state == 1:
                    kswapd.high_wmark_hit_quickly += 1
                    kswapd.starts()
                if kswapd.state == 2:
                    kswapd.credit += burst * rate
                    self.reclaims(node)
        return pages


def drawn(seed):
    """Two nodes with one to three zones; marks from none to so many that nothing can be given."""
    some = random.Random(seed)
    zones, most = [], some.choice([25, 900, 900])
    for node in (0, 1):
        for _ in range(some.randint(1, 2)):
            least = some.choice([0, 3, 20, 31, 32, 33, 60])
            high = least + some.randint(0, 40)
            zone = {"node": node, "free": some.randint(0, most), "reserve": some.choice([0, 0, 25])}
            zones.append(zone | {"min": least, "low": (least + high) // 2, "high": high})
    zonelist = [
        z for node in (0, 1) for z in reversed(range(len(zones))) if zones[z]["node"] == node
    ]
    nap, every = some.choice([0, 1, 40]), some.random() < 0.3
    reads = some.choice([1, 7, 32]), some.choice([100, 1024, 30 * 1024])
    tiers = some.random() < 0.5, some.choice([(0, 0), (0, 0), (1, 1), (5, 3)])
    return [zone | {"allocated": 0} for zone in zones], zonelist, nap, every, reads, tiers


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_machine_drawn_at_random_is_the_same_step_by_step(seed):
    zones, zonelist, nap, every, (burst, rate), (demotes, weights) = drawn(seed)
    laid = np.zeros(len(zones), nodes.ZONE)
    for n, zone in enumerate(zones):
        for name, value in zone.items():
            laid[name][n] = value
    mm = nodes.make(laid, zonelist, nap, every, demotion=demotes, weights=weights)
    theirs = Machine(zones, zonelist, nap, every, demotes, weights)
    size = mm.lru.shape[1]
    for _ in range(8):
        assert nodes.read(mm, U(20 * burst), U(burst), rate) == theirs.reads(
            20 * burst, burst, rate
        )
        for name in ("free", "allocated"):
            assert mm.zone[name].tolist() == [zone[name] for zone in zones]
        for name in COUNTED + QUICKLY:
            assert mm.kswapd[name].tolist() == [getattr(one, name) for one in theirs.kswapd], name
        for node, one in enumerate(theirs.kswapd):
            begins, held = mm.ring[node].tolist()
            places = [(begins + n) % size for n in range(held)]
            assert len(places) == len(one.lru)
            assert all(
                zones[mm.lru[node, at]] is zone and mm.number[node, at] == page
                for at, (zone, page) in zip(places, one.lru, strict=True)
            )
        assert mm.info[nodes.DIRECT] == theirs.direct
        assert mm.info[nodes.DEMOTED] == theirs.demoted


def test_machines_come_to_every_case():
    met = dict.fromkeys(("direct", "refused", "full", "demoted", "freed", "turns", *QUICKLY), 0)
    for seed in range(SEEDS):
        zones, zonelist, nap, every, (burst, rate), (demotes, weights) = drawn(seed)
        one = Machine(zones, zonelist, nap, every, demotes, weights)
        met["refused"] += one.reads(160 * burst, burst, rate) < 160 * burst
        met["direct"] += one.direct > 0
        met["full"] += any(kswapd.state == 2 and kswapd.priority < 6 for kswapd in one.kswapd)
        gone = sum(zone["allocated"] for zone in zones if zone["node"] == 0)
        gone -= len(one.kswapd[0].lru)
        met["demoted"] += one.demoted > 0
        met["freed"] += demotes and gone > one.demoted > 0
        met["turns"] += len(one.turns) == 8
        for name in QUICKLY:
            met[name] += any(getattr(kswapd, name) for kswapd in one.kswapd)
    assert all(met.values()), met
