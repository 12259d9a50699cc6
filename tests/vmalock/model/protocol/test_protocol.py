"""The protocol's search: what holds, what breaks, and the same from a search written otherwise."""

import numpy as np
import pytest

from lorelab.checker import explore, path
from lorelab.errors import BadInput
from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import configurations, ops, reader, state, steps, writers
from lorelab.vmalock.model.protocol.configurations import CONFIGURATIONS, MODEL, MUTATIONS
from lorelab.vmalock.model.protocol.ops import Op
from lorelab.vmalock.model.protocol.programs import steps_of
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.pages.searches import mutations
from lorelab.vmalock.params import Variant

from . import oracle

VERSIONS = (Variant.V2, Variant.V6_12, Variant.V7_3)


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("variant", configurations.CHECKED, ids=lambda v: v.name)
def test_every_rule_holds_and_every_thread_can_end(variant, name):
    found = search(variant, CONFIGURATIONS[name], 3)
    assert found.rule is None
    # mmap_lock leaves few orders: 35 states where a fault is tried again.
    fewest = 30 if (variant, name) == (Variant.MMAP_LOCK, "retry") else 50
    assert len(found.explored.states) > fewest


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_every_mutation_is_caught(variant):
    found = mutations(variant)
    numbers = [n for n in range(1, 13) if n != 11 or variant != Variant.V2]
    assert found["mutation"].tolist() == [f"M{n}" for n in numbers]
    assert (found["breaks"] != "").all()
    assert (found["steps"] > 10).all()


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_a_counterexample_is_a_run_of_the_programs_from_the_first_state(variant, mutation):
    if mutation not in configurations.mutations(variant):
        pytest.skip("v2 does not prepare anon_vma under the VMA's lock")
    chosen = CONFIGURATIONS[MUTATIONS[mutation].configuration]
    without = configurations.mutated(variant, mutation)
    found = search(variant, chosen, 3, without)
    following = np.empty((MODEL.most_following, MODEL.words), np.uint64)
    steps = np.empty(MODEL.most_following, np.uint64)
    at = configurations.first(variant, chosen, 3)
    for number, after in path(MODEL, found.explored, found.setting, found.index):
        n = int(MODEL.successors(at, following, steps, found.setting))
        assert number in steps[:n].tolist()
        assert (following[steps[:n].tolist().index(number)] == after).all()
        at = after


@pytest.mark.parametrize("name", ["flags", "writers", "again", "remap", "grow", "reuse"])
@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_a_plain_search_reaches_as_many_states(variant, name):
    chosen = CONFIGURATIONS[name]
    if len(chosen.threads) == 3 and name in ("flags", "grow", "reuse"):
        chosen = chosen._replace(threads=(chosen.threads[0], *chosen.threads[2:]))
    found = search(variant, chosen, 3)
    states, transitions, rule, _ = oracle.search(variant, chosen, 3)
    assert (len(found.explored.states), found.explored.transitions) == (states, transitions)
    assert (found.rule, rule) == (None, 0)


@pytest.mark.parametrize("name", configurations.PROGRAMS[1:])
@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_a_plain_search_of_one_fault_beside_one_writer(variant, name):
    layout = {"split": "one", "grow": "stack", "fork": "one"}.get(name, "two")
    chosen = configurations.Configuration((("fault", 0), (name, 0)), layout)
    found = search(variant, chosen, 3)
    states, transitions, rule, _ = oracle.search(variant, chosen, 3)
    assert (len(found.explored.states), found.explored.transitions) == (states, transitions)
    assert (found.rule, rule) == (None, 0)


@pytest.mark.parametrize("mutation", ["m1", "m3", "m4", "m7", "m9", "m10", "m11", "m12"])
@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_a_plain_search_breaks_the_same_rule_in_as_many_steps(variant, mutation):
    if mutation not in configurations.mutations(variant):
        pytest.skip("v2 does not prepare anon_vma under the VMA's lock")
    chosen = CONFIGURATIONS[MUTATIONS[mutation].configuration]
    if mutation != "m10":
        kept = int(mutation in ("m7", "m9"))
        chosen = chosen._replace(threads=(chosen.threads[kept], chosen.threads[2]))
    without = configurations.mutated(variant, mutation)
    found = search(variant, chosen, 3, without)
    length = len(path(MODEL, found.explored, found.setting, found.index))
    assert oracle.search(variant, chosen, 3, without)[2:] == (found.rule, length)


@pytest.mark.parametrize(
    ("variant", "name", "without"),
    [
        (Variant.V2, "again", "vma_end_write_all"),
        (Variant.V2, "remap", "vma_end_write_all"),
        (Variant.V6_12, "retry", "up_read to retry"),
        (Variant.V7_3, "remap", "vma_mark_attached in mmap"),
        (Variant.V7_3, "again", "refcount_sub of the flag"),
        (Variant.V7_3, "retry", "flag of detaching"),
        (Variant.V7_3, "resplit", "refcount_dec out of range"),
        (Variant.V6_12, "grow", writers.GROWS_AS_READER),
    ],
)
def test_a_plain_search_sees_a_lock_that_is_not_given_back(variant, name, without):
    without = frozenset([without])
    found = search(variant, CONFIGURATIONS[name], 3, without)
    length = len(path(MODEL, found.explored, found.setting, found.index)) if found.rule else 0
    assert oracle.search(variant, CONFIGURATIONS[name], 3, without)[2:] == (found.rule or 0, length)


@pytest.mark.parametrize("name", ["unmap", "remap", "merge", "reuse", "retry", "grow"])
def test_a_plain_search_walks_the_tree_again_as_v2_did(name):
    chosen = CONFIGURATIONS[name]
    if name in ("unmap", "grow"):
        chosen = chosen._replace(threads=chosen.threads[1:])
    again = frozenset([reader.WALKS_AGAIN, reader.RANGE_FIRST])
    found = search(Variant.V2, chosen, 3, again)
    states, transitions, rule, _ = oracle.search(Variant.V2, chosen, 3, again)
    assert (len(found.explored.states), found.explored.transitions) == (states, transitions)
    assert (found.rule, rule) == (None, 0)
    # It is what the look at `detached` is for, and as needed.
    if name in ("unmap", "remap"):
        without = again | {"second mas_walk"}
        found = search(Variant.V2, chosen, 3, without)
        length = len(path(MODEL, found.explored, found.setting, found.index))
        assert oracle.search(Variant.V2, chosen, 3, without)[2:] == (found.rule, length)


@pytest.mark.parametrize("fix", [(), (writers.RESET,), (writers.RESET, writers.EVEN_FIRST)])
@pytest.mark.parametrize("variant", [Variant.V6_12, Variant.V7_3], ids=lambda v: v.name)
def test_a_plain_search_resets_the_same_numbers(variant, fix):
    """Two bits and two writers: the sequence wraps."""
    chosen = configurations.configuration("fault:0+flags:0+flags:1")
    fix = frozenset(fix)
    found = search(variant, chosen, 2, fix)
    length = len(path(MODEL, found.explored, found.setting, found.index)) if found.rule else 0
    states, _, rule, steps_to_it = oracle.search(variant, chosen, 2, fix)
    assert (rule, steps_to_it) == (found.rule or 0, length)
    assert found.rule or states == len(found.explored.states)


def test_readers_of_different_vmas_do_not_wait_for_a_writer_of_another():
    """In the fault's program no step under the VMA's lock can be blocked."""
    chosen = configurations.configuration("fault:0+flags:1")
    told = configurations.setting(Variant.V6_12, chosen, 3)
    found = explore(MODEL, configurations.first(Variant.V6_12, chosen, 3), told)
    reached = set()
    for number in range(len(found.states)):
        reached |= {step for step, _ in path(MODEL, found, told, number)}
    names = {configurations.step(Variant.V6_12, chosen, frozenset(), n).op for n in reached}
    assert Op.SET_PTE in names
    assert Op.MMAP_READ_LOCK not in names


def test_the_mm_lock_alone_keeps_a_fault_waiting():
    chosen = configurations.configuration("fault:0+flags:1")
    found = search(Variant.MMAP_LOCK, chosen, 3)
    assert found.rule is None
    assert len(found.explored.states) < 60


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_estimate_is_of_the_right_size(name):
    chosen = CONFIGURATIONS[name]
    about = configurations.check_size(Variant.V6_12, chosen, 3)
    assert about / 2 < len(search(Variant.V6_12, chosen, 3).explored.states) < 2 * about


@pytest.mark.parametrize("variant", configurations.CHECKED, ids=lambda v: v.name)
def test_what_a_step_does_says_whether_it_is_of_the_lock(variant):
    """The same access is of the lock, or what the program is there for, wherever it stands."""
    found = {}
    for name in configurations.PROGRAMS:
        for page in (0, 1):
            chosen = configurations.Configuration(((name, page),))
            [program] = configurations.programs(variant, chosen, frozenset())
            for step in steps_of(program):
                found.setdefault(step.op, set()).add(step.work)
    assert all(len(both) == 1 for both in found.values())
    assert found[Op.WALK] == found[Op.ALLOC] == found[Op.SET_PTE] == {True}
    assert found[Op.MMAP_WRITE_LOCK] == found[Op.MMAP_READ_LOCK] == {False}


def begun(variant, *threads):
    """The first state of a configuration, and what the search is told."""
    chosen = configurations.Configuration(threads)
    return configurations.first(variant, chosen, 3), configurations.setting(variant, chosen, 3)


def test_a_step_is_known_by_its_thread_and_its_place():
    at, told = begun(Variant.V6_12, ("fault", 0), ("flags", 0))
    for thread, place in ((0, 1), (1, 2)):
        state.tput(at, np.uint64(thread), state.PC, np.uint64(place))
    following = np.empty((MODEL.most_following, MODEL.words), np.uint64)
    numbers = np.empty(MODEL.most_following, np.uint64)
    assert MODEL.successors(at, following, numbers, told) == 2
    assert numbers[:2].tolist() == [1, int(state.CODE_LENGTH) + 2]


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_memory_of_a_freed_vma_is_initialised(variant):
    """Whatever it was before: `arg` has the first page, the last one, and whose it is."""
    at, told = begun(variant, ("fault", 0))
    one = np.uint64(1)
    for field in (state.DETACHED, state.MARKED, state.START):
        state.vput(at, one, field, one)
    for field in (state.ANON, state.MAY_WRITE, state.LAST):
        state.vput(at, one, field, np.uint64(0))
    state.vput(at, one, state.LIFE, state.FREED)
    assert steps.execute(at, np.uint64(0), ops.ALLOC, np.uint64(0b110), told) == ops.NEXT
    fields = ("LIFE", "START", "PGOFF", "LAST", "OTHER", "VM_LOCK_SEQ", "MAY_WRITE", "ANON")
    found = [int(state.vget(at, one, getattr(state, name))) for name in fields]
    assert found == [int(state.LIVE), 0, 0, 1, 1, 7, 1, 1]
    assert state.vget(at, one, state.MARKED) == 0
    # 7.3 attaches it in a step of its own.
    assert state.vget(at, one, state.DETACHED) == (variant == Variant.V7_3)
    assert state.tget(at, np.uint64(0), state.VMA) == 1


def test_who_holds_another_process_keeps_its_mm():
    at, told = begun(Variant.V7_3, ("fault", 0), ("other", 0))
    thread = np.uint64(0)
    users = [int(state.get(at, state.OTHER_USERS))]
    for its, op in ((0, ops.MMGRAB), (1, ops.MMGRAB), (1, ops.MMDROP), (0, ops.MMDROP)):
        state.tput(at, thread, state.LOADED, np.uint64(its))
        assert steps.execute(at, thread, op, np.uint64(0), told) == ops.NEXT
        users.append(int(state.get(at, state.OTHER_USERS)))
    assert users == [1, 1, 2, 1, 1]


def test_a_page_is_mapped_as_its_vma_has_it_now():
    """A fault that has loaded other flags, or finds no anon_vma, has read a VMA that changed."""
    for field in (state.MAY_WRITE, state.ANON, None):
        at, told = begun(Variant.V6_12, ("fault", 0))
        thread, one = np.uint64(0), np.uint64(1)
        state.tput(at, thread, state.VMA, one)
        state.tput(at, thread, state.LOADED, one)
        if field is not None:
            state.vput(at, one, field, np.uint64(0))
        steps.execute(at, thread, ops.SET_PTE, np.uint64(0), told)
        assert state.get(at, state.BROKEN) == (0 if field is None else Rule.STABLE)


def test_a_step_is_told_by_the_kernels_statement_and_not_by_what_leaves_it_out():
    chosen = CONFIGURATIONS["unmap"]
    for variant in VERSIONS:
        for program in configurations.programs(variant, chosen, frozenset()):
            names = {step.name for step in steps_of(program)}
            assert not names & {writers.WAIT, writers.LOCK, reader.LOCK, reader.RCU, reader.END_RCU}


@pytest.mark.parametrize("name", configurations.PROGRAMS[1:])
def test_under_mmap_lock_alone_no_vma_is_marked(name):
    chosen = configurations.Configuration(((name, 0),))
    [program] = configurations.programs(Variant.MMAP_LOCK, chosen, frozenset())
    ops = {step.op for step in steps_of(program)}
    assert not ops & {Op.IF_NOT_MARKED, Op.STORE_VM_LOCK_SEQ, Op.SEQ_END, Op.DOWN_WRITE}


def test_a_configuration_too_large_is_refused_with_an_estimate():
    large = configurations.configuration("+".join(["fault:0"] * 6 + ["unmap:0", "flags:1"]))
    with pytest.raises(BadInput, match=r"about \d\.\de\+\d\d states, which take \d+\.\d GiB"):
        configurations.check_size(Variant.V6_12, large, 3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fault", "takes one of flags"),
        ("fault:2", "on page 0 or 1"),
        ("fault:0@three", "a layout is one of two, one, stack"),
        ("+".join(["fault:0"] * 9), "8 threads at most"),
    ],
)
def test_a_configuration_that_is_not_one_is_refused(words, said):
    with pytest.raises(BadInput, match=said):
        configurations.configuration(words)


def test_an_unknown_step_is_refused_with_those_there_are():
    with pytest.raises(BadInput, match=r"without=sleep: takes the name of a step; there are rcu"):
        search(Variant.V6_12, CONFIGURATIONS["flags"], 3, frozenset(["sleep"]))


def test_a_variant_without_a_protocol_here_is_refused():
    with pytest.raises(BadInput, match="SPF"):
        search(Variant.SPF, CONFIGURATIONS["flags"], 3)


def test_no_field_of_the_state_overlaps_another():
    fields = {name: value for name, value in vars(state).items() if isinstance(value, tuple)}
    sides = {"TREE": 2, "PTE": 2, "CHILD_PTE": 2, "ZAPPED": 2, "GRACE": 3}
    taken = np.zeros((3, 64), int)
    for name, (word, shift, mask) in fields.items():
        bits = int(mask).bit_length() * sides.get(name, 1)
        taken[int(word), int(shift) : int(shift) + bits] += 1
    assert taken.max() == 1
    assert not taken[1, int(state.VMA_BITS) :].any()
    assert not taken[2, int(state.THREAD_BITS) :].any()


@pytest.mark.parametrize("variant", [Variant.V2, Variant.V6_12, Variant.V7_3], ids=lambda v: v.name)
def test_in_every_version_a_walk_outside_rcu_meets_a_freed_vma(variant):
    found = search(variant, CONFIGURATIONS["unmap"], 3, frozenset(["RCU section of the walk"]))
    assert found.rule == Rule.ALIVE


def test_every_rule_that_a_state_can_break_is_broken_by_some_omission():
    broken = {
        search(Variant.V6_12, CONFIGURATIONS[name], 3, frozenset([without])).rule
        for name, without in [
            ("flags", "wait for readers"),
            ("flags", "vma_start_write in flags"),
            ("unmap", "RCU section of the walk"),
            ("remap", "get_unmapped_area"),
            ("fork", "vma_start_write in fork"),
            ("writers", "up_write of mmap_lock"),
            ("flags", "down_read_trylock"),
            ("flags", "rcu_read_unlock in vma_end_read"),
        ]
    }
    assert broken == set(Rule) - {Rule.ONE_WRITER, Rule.AGAIN}
    for variant, name, without in (
        (Variant.V2, "remap", "vma_end_write_all"),
        (Variant.V7_3, "split", "vma_mark_attached in split"),
    ):
        assert search(variant, CONFIGURATIONS[name], 3, frozenset([without])).rule == Rule.AGAIN
    found = search(
        Variant.V6_12, CONFIGURATIONS["again"], 3, frozenset(["mmap_lock of a writer"]),
        frozenset([Rule.ONE_WRITER]),
    )  # fmt: skip
    assert found.rule == Rule.ONE_WRITER
