"""Property tests of the model: every variant against the invariants, three against oracles too.

A machine of random calls drives one swap area. What must hold between calls is an `invariant`;
what a call may answer is checked where it is made. For Chris Li's v4, for 6.12 and for 7.2 each
call goes to an oracle as well, and offsets, lists in their order, and counters have to be equal.
"""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lorelab.numerics import U
from lorelab.params import label
from lorelab.swap.model import swap_slots
from lorelab.swap.model.state import (
    CURRENT,
    FRAG,
    FREE,
    FULL,
    NONFULL,
    NR_HEADS,
    SCAN,
    STEAL,
    SWAP_HAS_CACHE,
    SWAP_IN_USE,
    swapon,
)
from lorelab.swap.params import AllocMode, Variant
from tests.swap.model import oracle, oracle_v7_2

CLUSTER = 512
ORDERS = range(10)
BY_LIST = (Variant.CHRIS_V4, Variant.V6_12, Variant.V7_2)
"""Variants that keep every cluster on a list, and let order 0 steal by list."""
FREE_ONLY = (AllocMode.V6_10, AllocMode.V3)
"""Modes of 6.12 that serve orders above 0 from clusters that were free when they were taken."""
SINGLE_ORDER = {
    Variant.V6_6: {0, 9},
    Variant.V1: {0, *range(2, 10)},
    Variant.V2: {0, *range(2, 10)},
}
"""Orders that a variant serves, where not all."""


def list_of(si, head):
    """Clusters on one list, in order; checks the links both ways."""
    head = len(si.cluster_info) - int(NR_HEADS) + int(head)
    before, found = head, []
    while (idx := int(si.cluster_info[before]["next"])) != head:
        assert si.cluster_info[idx]["prev"] == before
        assert len(found) < len(si.cluster_info), "the list goes round in circles"
        found.append(idx)
        before = idx
    assert si.cluster_info[head]["prev"] == before
    return found


def cached(si):
    """Slots in the per-CPU caches: taken ahead, or freed and not given back."""
    found = []
    for cpu in range(len(si.n_ret)):
        cur, nr = int(si.slots_cur[cpu]), int(si.slots_nr[cpu])
        found += si.slots[cpu, cur : cur + nr].tolist()
        found += si.slots_ret[cpu, : int(si.n_ret[cpu])].tolist()
    return found


def clusters_of(si):
    """cluster_info without the list heads."""
    return si.cluster_info[: -int(NR_HEADS)]


def state(si):
    """The same as `oracle.Swap.state`."""
    clusters = clusters_of(si)
    return {
        "free": list_of(si, FREE),
        "nonfull": [list_of(si, NONFULL + U(order)) for order in ORDERS],
        "frag": [list_of(si, FRAG + U(order)) for order in ORDERS],
        "full": sorted(list_of(si, FULL)),
        "count": clusters["count"].tolist(),
        "order": clusters["order"].tolist(),
        "flags": clusters["flags"].tolist(),
        "next": si.percpu_next.tolist(),
        "swap_map": si.swap_map[: int(si.info[0]["max"])].tolist(),
        "inuse_pages": int(si.info[0]["inuse_pages"]),
        "nr_swap_pages": int(si.info[0]["nr_swap_pages"]),
        "bounds": (int(si.info[0]["lowest_bit"]), int(si.info[0]["highest_bit"])),
        "cluster_next": (int(si.info[0]["cluster_next"]), int(si.info[0]["cluster_nr"])),
        "scanned": si.scanned.tolist(),
        "visited": si.visited.tolist(),
    }


class ChrisV4(oracle.Swap):
    """What became 6.12, as it was proposed in July 2024."""

    merged = False


class Machine(RuleBasedStateMachine):
    """Random calls to one area of `variant`, with the switches that stay as they are."""

    variant = Variant.V6_12
    mode = AllocMode.UPSTREAM
    stealing = True
    rotational = False

    @initialize(
        pages=st.integers(2, 4 * CLUSTER)
        | st.sampled_from((2, 3, 4)).map(lambda clusters: clusters * CLUSTER)
        | st.integers(33 * CLUSTER, 40 * CLUSTER),
        cpus=st.integers(1, 3),
        slot_cache=st.booleans(),
        free_cache=st.booleans(),
    )
    def swapon(self, pages, cpus, slot_cache, free_cache):
        self.cpus = cpus
        self.si = swapon(
            pages,
            self.variant,
            cpus,
            slot_cache=slot_cache,
            free_cache=free_cache,
            stealing=self.stealing,
            rotational=self.rotational,
            alloc_mode=self.mode,
        )
        self.slot_cache = slot_cache
        self.used = np.zeros(pages, bool)
        self.live = {}
        self.judge = None
        self.oracle = oracle_v7_2 if self.variant == Variant.V7_2 else oracle
        if self.variant == Variant.V7_2:
            self.judge = oracle_v7_2.Swap(pages, cpus, self.stealing)
        elif self.variant in BY_LIST:
            judge = oracle.Swap if self.variant == Variant.V6_12 else ChrisV4
            self.judge = judge(
                pages,
                cpus,
                slot_cache,
                free_cache,
                label(self.mode),
                self.stealing,
                self.rotational,
            )

    # Calls

    def alloc(self, cpu, order):
        si = self.si
        free_clusters = clusters_of(si)["count"] == 0
        current = int(si.percpu_next[cpu, order])
        holes = np.count_nonzero(si.swap_map == 0) + len(cached(si))
        scan_base = int(si.cluster_next_cpu[cpu])
        offset = int(swap_slots.folio_alloc_swap(si, U(cpu), U(order)))
        if self.judge:
            assert offset == self.oracle.folio_alloc_swap(self.judge, cpu, order)
        if not offset:
            self.check_failure(order, free_clusters, holes, scan_base)
            return 0
        nr = 1 << order
        assert not (self.rotational and order)
        assert offset % nr == 0
        assert offset // CLUSTER == (offset + nr - 1) // CLUSTER
        assert not self.used[offset : offset + nr].any()
        if order and (self.variant in (Variant.V3, Variant.V6_10) or self.mode in FREE_ONLY):
            idx = offset // CLUSTER
            assert free_clusters[idx] or idx == current // CLUSTER
        self.used[offset : offset + nr] = True
        self.live[offset] = order
        return offset

    def check_failure(self, order, free_clusters, holes, scan_base):
        si, variant = self.si, self.variant
        if self.rotational:
            assert order or holes == 0
            return
        if order == 0:
            if not self.stealing:
                # Of what is free now, with the caches drained or not, order 0 may take what lies
                # in clusters of its own, which free ones are.
                own = clusters_of(si)["order"] == 0
                holes = np.count_nonzero((si.swap_map.reshape(-1, CLUSTER) == 0)[own])
            elif variant in (Variant.V1, Variant.V2):
                # What is left of a reserved cluster counts as free, and no order 0 can have it; so
                # the caches of other CPUs are not drained, whatever they hold.
                holes = np.count_nonzero(si.swap_map == 0)
            # Before 6.12 the linear scan starts behind the slot of cluster_next_cpu and, coming
            # round, ends before it: that one slot it never looks at.
            missed = variant not in BY_LIST and (si.swap_map[scan_base : scan_base + 1] == 0).any()
            assert holes <= missed
        elif order in SINGLE_ORDER.get(variant, ORDERS):
            assert not free_clusters.any()
        looks_everywhere = (Variant.CHRIS_V4, Variant.V6_12, Variant.RYAN_SCAN)
        if order and variant in looks_everywhere and self.mode not in FREE_ONLY:
            ranges = si.swap_map.reshape(-1, CLUSTER >> order, 1 << order).any(axis=2)
            holed = ~ranges.all(axis=1)
            assert not (holed & (clusters_of(si)["order"] == order)).any()

    def free_range(self, offset):
        nr = 1 << self.live.pop(offset)
        self.used[offset : offset + nr] = False
        swap_slots.swap_entry_range_free(self.si, U(offset), U(nr))
        if self.judge:
            self.oracle.swap_entry_range_free(self.judge, offset, nr)

    def free_slots(self, cpu, offset, nr):
        """The first `nr` slots of a folio one by one; the rest lives on as single slots."""
        size = 1 << self.live.pop(offset)
        for slot in range(offset, offset + nr):
            self.used[slot] = False
            swap_slots.free_swap_slot(self.si, U(cpu), U(slot))
            if self.judge:
                self.oracle.free_swap_slot(self.judge, cpu, slot)
        for slot in range(offset + nr, offset + size):
            self.live[slot] = 0

    # Rules

    @rule(cpu=st.integers(0, 2), order=st.sampled_from(ORDERS), how_many=st.integers(1, 150))
    def swap_out(self, cpu, order, how_many):
        for _ in range(how_many):
            if not self.alloc(cpu % self.cpus, order):
                break

    @rule(cpu=st.integers(0, 2), order=st.sampled_from(ORDERS))
    def fill_up(self, cpu, order):
        while len(self.used) < 4 * CLUSTER and self.alloc(cpu % self.cpus, order):
            pass

    @rule(seed=st.integers(0, 2**32), share=st.floats(0, 1))
    def zap(self, seed, share):
        victims = sorted(self.live)
        for offset in random.Random(seed).sample(victims, int(share * len(victims))):
            self.free_range(offset)

    @rule(cpu=st.integers(0, 2), seed=st.integers(0, 2**32), share=st.floats(0, 1))
    def swap_in(self, cpu, seed, share):
        draw = random.Random(seed)
        victims = sorted(self.live)
        for offset in draw.sample(victims, min(150, int(share * len(victims)))):
            self.free_slots(cpu % self.cpus, offset, draw.randint(1, 1 << self.live[offset]))

    @rule(seed=st.integers(0, 2**32))
    def churn(self, seed):
        """Fill the device with a few orders and punch holes, again and again."""
        draw = random.Random(seed)
        for _ in range(4):
            order = draw.choice((0, 1, 2, 2, 3, 4, 4, 5, 7, 8))
            tries = 0
            while tries < 400 and self.alloc(draw.randrange(self.cpus), order):
                tries += 1
            victims = draw.sample(sorted(self.live), int(len(self.live) * draw.choice((0.1, 0.5))))
            for offset in victims[:300]:
                if draw.random() < 0.5:
                    self.free_range(offset)
                else:
                    nr = draw.randint(1, 1 << self.live[offset])
                    self.free_slots(draw.randrange(self.cpus), offset, nr)

    @rule(cpu=st.integers(0, 2), order=st.sampled_from(ORDERS))
    def out_and_back(self, cpu, order):
        """Freeing undoes allocating, in the counts."""
        before = clusters_of(self.si)["count"].copy()
        free = int(self.si.info[0]["nr_swap_pages"])
        offset = self.alloc(cpu % self.cpus, order)
        if offset:
            self.free_range(offset)
        if order or not self.slot_cache:
            assert self.si.info[0]["nr_swap_pages"] == free
            if self.variant not in (Variant.V1, Variant.V2):  # these reserve the whole cluster
                assert clusters_of(self.si)["count"].tolist() == before.tolist()

    @rule()
    def drain(self):
        """Every slot in a cache goes back; what is left is in use."""
        for cpu in range(self.cpus):
            swap_slots.drain_slots_cache_cpu(self.si, U(cpu))
        if self.judge:
            self.oracle.drain_slots_cache(self.judge)
        assert self.si.info[0]["inuse_pages"] == self.used.sum()

    # Invariants

    @invariant()
    def counts(self):
        si, info = self.si, self.si.info[0]
        taken = si.swap_map.reshape(-1, CLUSTER) != 0
        if not self.rotational:
            assert clusters_of(si)["count"].tolist() == taken.sum(axis=1).tolist()
        assert info["inuse_pages"] + info["nr_swap_pages"] == info["pages"]
        assert np.flatnonzero(si.swap_map == SWAP_HAS_CACHE).tolist() == sorted(cached(si))
        in_use = np.flatnonzero(si.swap_map == SWAP_IN_USE)
        assert in_use.tolist() == np.flatnonzero(self.used).tolist()
        assert self.used.sum() + len(cached(si)) == info["inuse_pages"]

    @invariant()
    def current_clusters(self):
        """What is left of a current cluster begins behind what was taken of it."""
        following = self.si.percpu_next[self.si.percpu_next > 0]
        assert (following % CLUSTER > 0).all()

    @invariant()
    def lists(self):
        si = self.si
        clusters = clusters_of(si)
        flag = {FREE: 1, FULL: 8}
        flag |= {NONFULL + U(order): 2 for order in ORDERS}
        flag |= {FRAG + U(order): 4 for order in ORDERS}
        on_list = np.zeros(len(clusters), np.uint8)
        for head, value in flag.items():
            for idx in list_of(si, head):
                assert on_list[idx] == 0, "a cluster is on two lists"
                on_list[idx] = value
                if value in (2, 4):
                    assert clusters[idx]["order"] == (head - NONFULL) % len(ORDERS)
        assert clusters["flags"].tolist() == on_list.tolist()
        assert ((clusters["count"] == 0) == (on_list == 1)).all()
        if self.variant in BY_LIST:
            assert on_list.all()
            assert ((clusters["count"] == CLUSTER) == (on_list == 8)).all()
        lengths = [len(list_of(si, FRAG + U(order))) for order in ORDERS]
        assert si.frag_cluster_nr.tolist() == lengths

    @invariant()
    def paths(self):
        if not self.stealing:
            assert not self.si.path[STEAL].any()
        if self.rotational:
            assert not self.si.path[CURRENT:SCAN].any()

    @invariant()
    def equal_to_the_oracle(self):
        if self.judge:
            judged = self.judge.state()
            found = state(self.si) | {"path": self.si.path.tolist()}
            assert {name: found[name] for name in judged} == judged


EVERY = [(variant, AllocMode.UPSTREAM) for variant in Variant]
EVERY += [(Variant.V6_12, mode) for mode in AllocMode if mode]


SWITCHES = {
    "plain": {},
    "no stealing": {"stealing": False},
    "rotational": {"rotational": True},
}
"""What the machine can't draw by itself. A rotational device has no clusters to steal from."""

MACHINES = [
    pytest.param(variant, mode, switches, id=f"{variant.name}-{mode.name}-{switches}")
    for variant, mode in EVERY
    for switches in SWITCHES
    # 7.2 has clusters on a rotational device too, which the model lacks.
    if (variant, switches) != (Variant.V7_2, "rotational")
]


@pytest.mark.parametrize(("variant", "mode", "switches"), MACHINES)
def test_machine(variant, mode, switches):
    given = {"variant": variant, "mode": mode, **SWITCHES[switches]}
    machine = type("Machine", (Machine,), given)
    judged = variant in BY_LIST and mode == AllocMode.UPSTREAM
    machine.TestCase.settings = settings(
        max_examples=24 if judged else 8,
        stateful_step_count=20,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    machine.TestCase("runTest").runTest()


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize(("variant", "mode", "switches"), MACHINES)
def test_a_small_area_in_a_few_calls(variant, mode, switches, cpus):
    """The same calls each time, few enough for what runs no compiled code."""
    given = {"variant": variant, "mode": mode, **SWITCHES[switches]}
    machine = type("Machine", (Machine,), given)()
    machine.swapon(3 * CLUSTER - 100 * (cpus - 1), cpus, cpus == 2, cpus == 2)
    for seed, order in enumerate((0, 4, 0)):
        machine.swap_out(0, 9, 1)
        machine.swap_out(cpus - 1, 4, 20)
        machine.swap_out(0, 0, 90)
        machine.swap_in(0, seed, 0.3)
        machine.fill_up(0, order)
        machine.fill_up(0, 0)
        machine.zap(seed, 0.6)
        if machine.judge:
            machine.churn(seed)
        checks = machine.counts, machine.current_clusters, machine.lists, machine.paths
        for check in (*checks, machine.equal_to_the_oracle):
            check()


def test_another_cpu_keeps_its_slots_beside_reserved_clusters():
    """What the random calls met once: nothing is free, and a CPU has 13 slots in its cache."""
    machine = type("Machine", (Machine,), {"variant": Variant.V2})()
    machine.swapon(2 * CLUSTER, 2, True, False)
    machine.churn(0)
    machine.swap_out(0, 0, 1)
    machine.churn(2)
    assert len(cached(machine.si)) > 0 and machine.si.info[0]["swap_slot_cache_active"]
