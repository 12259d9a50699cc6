"""swap/mixed: nothing lost, the same load for every variant, figures one can work out by hand."""

from collections import Counter

import numpy as np
import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.numerics import U
from lorelab.params import parse
from lorelab.swap.experiments import mixed as m
from lorelab.swap.model.state import (
    CLUSTER_FLAG_FRAG,
    CLUSTER_FLAG_FREE,
    CLUSTER_FLAG_FULL,
    CLUSTER_FLAG_NONFULL,
    FRAG,
    FREE,
    NONFULL,
    NR_HEADS,
    OFF_LIST,
    SWAP_IN_USE,
    swapon,
)
from lorelab.swap.model.swap_slots import drain_slots_cache_cpu
from lorelab.swap.pages import simulated
from lorelab.swap.params import Mixed, Variant
from lorelab.swap.workload import load as load_module

SMALL = {"device_mib": 16, "turnovers": 3, "steps": 3, "cpus": 3, "tasks": 5, "migration": 0.1}


def small(**given) -> Mixed:
    return Mixed(**(SMALL | given))


def ran(params: Mixed):
    """A device and its load after a whole run."""
    si, load = load_module.start(params)
    for step, folios in enumerate(m.windows(params)):
        load_module.run(si, load, U(folios), step == 0)
    return si, load


def alive(load) -> dict[int, int]:
    """Folios on the device by first slot, read off the calendar."""
    found = {}
    for entry in load.calendar.tolist():
        while entry:
            assert entry >> 4 not in found
            found[entry >> 4] = entry & 15
            entry = int(load.following[entry >> 4])
    return found


def counter(table, name: str) -> list[float]:
    return table.loc[(table.counter == name) & (table.step > 0), "value"].tolist()


def check_slots(params: Mixed):
    """Every slot is a folio's, or nobody's, and every count says the same."""
    si, load = ran(params)
    totals = load.totals[0]
    folios = alive(load)
    taken = np.zeros(len(si.swap_map), int)
    orders = np.full(len(si.swap_map), -1)
    for offset, order in folios.items():
        assert offset % (1 << order) == 0
        taken[offset : offset + (1 << order)] += 1
        orders[offset : offset + (1 << order)] = order
    assert taken.max() == 1
    assert load_module.folio_orders(load).tolist() == orders.tolist()
    assert totals["freed"] > 0
    assert totals["written"] - totals["freed"] == totals["held"] == taken.sum()
    assert load.blocks["held"].tolist() == taken.reshape(-1, 512).sum(axis=1).tolist()
    assert (load.swpout << np.arange(10, dtype=np.uint64)).sum() == totals["written"]
    for cpu in range(len(si.n_ret)):
        drain_slots_cache_cpu(si, U(cpu))
    assert si.info[0]["inuse_pages"] == totals["held"]
    usable = np.arange(len(taken)) < si.info[0]["max"]
    usable[0] = False
    assert ((si.swap_map[usable] == SWAP_IN_USE) == (taken[usable] == 1)).all()


@pytest.mark.parametrize("paged", [0, 0.5])
@pytest.mark.parametrize("variant", Variant)
def test_every_slot_is_accounted_for(variant, paged):
    check_slots(small(variant=variant, paged=paged, fill=0.9))


@pytest.mark.parametrize("variant", [Variant.V3, Variant.V6_12])
def test_every_slot_of_two_clusters_is_accounted_for(variant):
    given = {"orders": "0:1,4:4", "paged": 0.3, "cpus": 2, "tasks": 3, "fill": 0.9, "steps": 1}
    check_slots(Mixed(device_mib=4, variant=variant, turnovers=1, **given))


def test_tasks_begin_on_cpus_in_turn_and_migrate_as_often_as_told():
    _, load = load_module.start(Mixed(device_mib=2, cpus=3, tasks=5))
    assert load.cpu.tolist() == [0, 1, 2, 0, 1]
    for migration, places in ((0, {0}), (1, {0, 1, 2})):
        given = {"cpus": 3, "tasks": 1, "migration": migration, "orders": "0:1"}
        si, load = load_module.start(Mixed(device_mib=2, **given))
        seen = set()
        for _ in range(40):
            load_module.run(si, load, U(1), True)
            seen.add(int(load.cpu[0]))
        assert seen == places


def number(load, folio: int, of: int) -> int:
    """A random number of a folio: splitmix64, in Python's integers."""
    state = (int(load.totals["seed"][0]) + 1024 * folio + of + 1) * 0x9E3779B97F4A7C15 % 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return state ^ state >> 31


def test_a_page_is_freed_on_the_cpu_of_the_task_that_its_entry_draws():
    """It goes to that CPU's cache of freed slots. An entry is the slot and 4 bits of order."""
    si, load = load_module.start(Mixed(device_mib=8, orders="0:1", cpus=4, tasks=4, migration=0))
    load_module.run(si, load, U(60), True)
    tasks = [number(load, slot << 4, int(load_module.CPU)) * 4 >> 64 for slot in alive(load)]
    for bucket in np.flatnonzero(load.calendar):
        load.totals["now"] = bucket * load.totals["width"]
        load_module._swap_in(si, load)
    assert si.n_ret.tolist() == np.bincount(tasks, minlength=4).tolist()
    assert load.totals["freed"] == 60


def test_the_load_does_not_depend_on_the_allocator():
    asked = set()
    for variant in Variant:
        _, load = ran(small(variant=variant, paged=0, orders="2:1,4:1"))
        large = load.swpout + load.fallback
        totals = load.totals[0]
        asked.add((*large[1:].tolist(), *load.cpu.tolist(), int(totals["held"])))
    assert len(asked) == 1


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    first = m.simulate(small(seed=7))
    assert first.equals(m.simulate(small(seed=7)))
    assert not first.equals(m.simulate(small(seed=8)))


@pytest.mark.parametrize("shape", ["zipf", "exponential"])
def test_the_device_stays_as_full_as_asked(shape):
    params = Mixed(device_mib=1024, orders="0:1,4:1", fill=0.6, lifetimes=shape, cpus=1, tasks=1)
    assert counter(m.simulate(params), "utilisation") == pytest.approx([60] * 9, abs=1.5)


@pytest.mark.parametrize("shape", ["zipf", "exponential"])
def test_lifetimes_have_the_mean_asked_for(shape):
    life = load_module.lifetimes(shape, 1000.0)
    assert life.mean() == pytest.approx(1000, rel=0.002)
    assert (np.diff(life.astype(int)) >= 0).all()


def test_zipf_is_256_kinds_of_folios():
    kinds = Counter(load_module.lifetimes("zipf", 1e6).tolist())
    assert set(kinds.values()) == {load_module.QUANTILES // load_module.RANKS}
    longest = max(kinds)
    assert sorted(kinds, reverse=True)[:4] == pytest.approx([longest / k for k in range(1, 5)])


def test_weights_share_out_pages():
    _, load = ran(Mixed(device_mib=1024, orders="0:1,4:3", fill=0.9, turnovers=0, paged=0))
    large = int(load.swpout[4] + load.fallback[4]) * 16
    assert large / int(load.totals[0]["written"]) == pytest.approx(0.75, abs=0.01)


def test_one_task_alone_writes_one_run_and_nothing_twice():
    params = Mixed(
        device_mib=16, orders="4:1", fill=0.5, turnovers=0, cpus=1, tasks=1, variant=Variant.V3
    )
    table = m.simulate(params)
    # a run ends with its cluster unless the next free one is its neighbour, as here
    assert counter(table, "run_length") == [128 * 16]
    assert counter(table, "write_amplification") == [1]
    assert counter(table, "clusters_full") == [4]
    # 32 ranges of 16 slots in a cluster, all of them free: each is read once
    assert counter(table, "scanned_order4") == [16]


def test_writing_below_the_pointer_moves_what_the_block_holds():
    _, load = load_module.start(Mixed(device_mib=2))
    for offset, nr_pages, copied in ((16, 16, 0), (64, 32, 0), (32, 16, 48), (48, 16, 48)):
        load_module._program(load, U(offset), U(nr_pages))
        assert load.totals[0]["copied"] == copied
    assert load.blocks[0].tolist() == (80, 64)


def test_what_the_device_moves_is_written_too():
    """64 slots in 4 runs, and 16 that the device had to move: 80 written for 64 that were asked."""
    change = dict.fromkeys(("swpout", "fallback", "scanned", "visited"), np.zeros(10, int))
    change |= {"written": 64, "copied": 16, "runs": 4, "failed": 0}
    window = m._window(change, [0])
    assert window["write_amplification"] == ("written/asked", 1.25)
    assert window["run_length"] == ("slots", 16)


@pytest.mark.parametrize("variant", Variant)
def test_clusters_are_in_one_state_each(variant):
    si, _ = ran(small(variant=variant))
    states = m.cluster_states(si)
    assert sum(states.values()) == 8
    counts = si.cluster_info["count"][:8].tolist()
    current = {int(n) // 512 for n in si.percpu_next.flat if n}
    assert states["current"] == len(current)
    assert states["free"] == sum(not counts[idx] for idx in range(8) if idx not in current)


def on_list(si, which) -> set[int]:
    """Clusters on one of the lists, or on that of any order."""
    clusters = len(si.cluster_info) - int(NR_HEADS)
    found = set()
    for head in which:
        at = int(si.cluster_info[clusters + int(head)]["next"])
        while at < clusters:
            found.add(at)
            at = int(si.cluster_info[at]["next"])
    return found


@pytest.mark.parametrize("variant", [Variant.V3, Variant.V6_12])
def test_states_are_the_lists_that_clusters_are_on(variant):
    """The lists are walked link by link."""
    si, _ = ran(small(device_mib=64, variant=variant, turnovers=1, steps=1, fill=0.7))
    clusters = range(len(si.cluster_info) - int(NR_HEADS))
    current = {int(slot) // 512 for slot in si.percpu_next.flat if slot}
    lists = {
        "free": on_list(si, [FREE]),
        "nonfull": on_list(si, range(int(NONFULL), int(FRAG))),
        "frag": on_list(si, range(int(FRAG), int(NR_HEADS))),
        "full": {n for n in clusters if si.swap_map[512 * n : 512 * n + 512].all()},
    }
    expected = {name: len(found - current) for name, found in lists.items()}
    expected |= {"current": len(current)}
    expected["unlisted"] = len(clusters) - sum(expected.values())
    assert m.cluster_states(si) == expected


def test_each_state_has_its_own_count():
    """As many clusters of each state as no other has: two that are exchanged are seen."""
    kinds = {
        "free": (0, CLUSTER_FLAG_FREE),
        "nonfull": (100, CLUSTER_FLAG_NONFULL),
        "frag": (100, CLUSTER_FLAG_FRAG),
        "full": (512, CLUSTER_FLAG_FULL),
        "current": (100, OFF_LIST),
        "unlisted": (100, OFF_LIST),
    }
    expected = {name: number for number, name in enumerate(kinds, 1)}
    si = swapon(512 * sum(expected.values()), Variant.V6_12, cpus=expected["current"])
    names = [name for name, number in expected.items() for _ in range(number)]
    for idx, name in enumerate(names):
        count, flags = kinds[name]
        si.cluster_info[idx]["count"], si.cluster_info[idx]["flags"] = count, flags
    si.percpu_next[:, 0] = [512 * idx + 1 for idx, name in enumerate(names) if name == "current"]
    assert m.cluster_states(si) == expected


def test_an_overfull_device_fails_where_nothing_is_left():
    params = Mixed(device_mib=16, fill=1.5, turnovers=0, orders="0:1", slot_cache=False)
    table = m.simulate(params)
    whole = table[table.step == 0].set_index("counter")["value"]
    assert whole["free_at_first_failure"] == 0
    assert whole["utilisation_at_first_failure_order0"] == 100
    assert counter(table, "failed") == [16 * 256 * 1.5 - (16 * 256 - 1)]


def test_reserved_clusters_of_v2_are_lost_to_order_0():
    """Each CPU and order holds back what is left of a cluster: 512 - 4 slots for order 2."""
    params = Mixed(device_mib=64, orders="0:60,2:1", cpus=4, slot_cache=False)
    table = simulated.grid(
        params, simulated.until_full, variant=[Variant.V2, Variant.V3, Variant.V6_12]
    )
    free = table[table.counter == "free_at_first_failure"]
    lost = dict(zip(free.variant, free.value, strict=True))
    assert 0 < lost["v2"] < 4 * 508
    assert lost["v3"] <= 1  # a linear scan never looks at the slot it starts from
    assert lost["v6.12"] == 0


def test_a_wide_bucket_frees_as_much(monkeypatch):
    monkeypatch.setattr(load_module, "BUCKETS", 64)
    params = Mixed(device_mib=256, orders="0:1,4:1", fill=0.6)
    si, load = ran(params)
    assert load.totals[0]["width"] > 100
    assert 100 * load.totals[0]["held"] / si.info[0]["pages"] == pytest.approx(60, abs=3)


def test_a_rotational_device_takes_order_0_alone():
    _, load = ran(small(rotational=True, orders="0:1,4:1"))
    assert load.swpout[4] == 0
    assert load.fallback[4] > 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"orders": "0:1,10:1"}, "orders=0:1,10:1: takes order:weight pairs, orders 0 to 9"),
        ({"orders": "4"}, "orders=4: takes order:weight pairs"),
        ({"orders": "4:1,4:2"}, "orders=4:1,4:2: gives order 4 twice"),
        ({"orders": "4:0"}, "orders=4:0: takes weights up to 65536, one of them above 0"),
        ({"fill": "0"}, "fill=0: "),
        ({"device_mib": "3"}, "device_mib=3: "),
        ({"lifetimes": "weibull"}, "lifetimes=weibull: takes 'zipf' or 'exponential'"),
        ({"turnover": "3"}, "unknown parameter turnover: takes device_mib,"),
    ],
)
def test_bad_input_is_named(given, says):
    with pytest.raises(BadInput) as error:
        parse(experiment("swap/mixed").Params, given)
    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)
