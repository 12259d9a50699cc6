"""The experiments that search the protocol: what they count, and what their tables say."""

import numpy as np
import pytest

from lorelab.errors import BadInput
from lorelab.params import parse
from lorelab.vmalock.experiments import omissions, protocol, wrap
from lorelab.vmalock.model.protocol.configurations import MODEL, Configuration
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.pages import omitted, wraps
from lorelab.vmalock.params import Omissions, Protocol, Variant, Wrap

VERSIONS = (Variant.V2, Variant.V6_12, Variant.V7_3)


def counted(table):
    return table.set_index("counter")["value"].to_dict()


def test_a_configuration_that_holds_counts_its_states():
    said = counted(protocol.simulate(Protocol()))
    assert said["states"] == 5858
    assert (said["broken_rule"], said["counterexample"]) == (0, 0)


def test_several_steps_can_be_left_out_and_a_configuration_written_out():
    params = Protocol(without="early check, late check", configuration="fault:0+flags:0")
    assert counted(protocol.simulate(params))["broken_rule"] > 0


def test_bad_input_names_what_it_takes():
    with pytest.raises(BadInput, match="mutation=m13"):
        parse(Protocol, {"mutation": "m13"})
    with pytest.raises(BadInput, match="sequence_bits=5"):
        parse(Protocol, {"sequence_bits": "5"})
    with pytest.raises(BadInput, match="takes the name of a step"):
        protocol.simulate(Protocol(without="nothing"))
    with pytest.raises(BadInput, match=r"GiB: more than 1\.0 GiB"):
        protocol.simulate(Protocol(configuration="+".join(["fault:0"] * 7 + ["unmap:0"])))


NEEDED = {
    Variant.V2: {
        "late check": "EXCLUDED",
        "detached check": "STABLE",
        "RCU section of the walk": "ALIVE",
        "RCU section of vma_end_read": "ALIVE",
        "vma_end_write_all": "AGAIN",
        "vma_start_write in fork": "FORKED",
    },
    Variant.V6_12: {
        "late check": "EXCLUDED",
        "read lock of the VMA": "EXCLUDED",
        "detached check": "STABLE",
        "range check": "STABLE",
        "RCU section of the walk": "ALIVE",
        "RCU section of vma_end_read": "ALIVE",
        "vma_start_write in fork": "FORKED",
        "up_write of mmap_lock": "NO_DEADLOCK",
    },
    Variant.V7_3: {
        "late check": "EXCLUDED",
        "read lock of the VMA": "EXCLUDED",
        "vm_mm check": "STABLE",
        "range check": "STABLE",
        "RCU section of the walk": "ALIVE",
        "mmgrab": "ALIVE",
        "refcount_dec out of range": "NO_DEADLOCK",
        "refcount_sub of the flag": "BALANCED",
        "flag of detaching": "BALANCED",
        "rcuwait of detaching": "STABLE",
        "vma_mark_attached in mmap": "AGAIN",
        "vma_start_write in fork": "FORKED",
    },
}
"""Steps of each version, and the rule that the shortest counterexample without them breaks."""


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_what_can_be_left_out_and_nothing_breaks(variant):
    """Every step of the version, and each that nothing breaks without has a reason."""
    every = omissions.omissions(Omissions(variant=variant)).set_index("without")
    redundant = set(every.index[every["breaks"] == ""])
    assert "early check" in redundant  # it saves a locked operation, no more
    assert "__is_vma_write_locked" in redundant
    needed = NEEDED[variant]
    assert every.loc[list(needed), "breaks"].to_dict() == needed
    left = omitted.redundant(every.reset_index()).set_index("without")["why"]
    assert set(left.index) == redundant and (left != "").all()
    listed = {step for step in omitted.UNSEEN if step in every.index}
    assert listed <= redundant, "a reason why nothing breaks, and something does"


SMALL = {
    "flags": Configuration((("fault", 0), ("flags", 0))),
    "unmap": Configuration((("fault", 0), ("unmap", 0))),
}


def test_omissions_are_of_the_lock_and_not_of_what_it_is_for(monkeypatch):
    """Who leaves out the walk or the page table entry learns nothing of the lock."""
    monkeypatch.setattr(omitted, "CONFIGURATIONS", SMALL)
    every = omissions.omissions(Omissions()).set_index("without")
    assert not {"mas_walk", "set_pte", "find_vma", "vma_find in flags"} & set(every.index)
    assert every.index.is_unique
    assert every.loc["late check"].to_list()[:2] == ["EXCLUDED", "flags"]
    assert every.loc["detached check"].to_list()[:2] == ["STABLE", "unmap"]
    table = omissions.simulate(Omissions())
    assert set(table["source"]) == {"model"}
    said = counted(table)
    breaks = every.loc[every["breaks"] != "", "breaks"].value_counts()
    assert said["breaking"] == breaks.sum() == len(every) - said["redundant"]
    assert {rule: said[f"breaks_{rule.lower()}"] for rule in breaks.index} == breaks.to_dict()


def test_the_first_state_without_an_end_is_the_one_that_is_told():
    """Every state that was reached before it can still come to an end."""
    without = frozenset(["rcu_read_unlock in vma_end_read"])
    found = protocol.search(Variant.V6_12, SMALL["flags"], 3, without)
    assert found.rule == Rule.ENDS
    states = found.explored.states
    numbers = {tuple(state): n for n, state in enumerate(states.tolist())}
    before = [[] for _ in states]
    following = np.empty((MODEL.most_following, MODEL.words), np.uint64)
    steps = np.empty(MODEL.most_following, np.uint64)
    for n, state in enumerate(states):
        for k in range(int(MODEL.successors(state, following, steps, found.setting))):
            before[numbers[tuple(following[k].tolist())]].append(n)
    chosen = found.chosen
    left = np.flatnonzero(protocol.ended(states, Variant.V6_12, chosen, without)).tolist()
    ends = set(left)
    while left:
        earlier = set(before[left.pop()]) - ends
        ends |= earlier
        left += earlier
    assert found.index == min(set(range(len(states))) - ends)


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_a_reader_is_never_told_unlocked_falsely(variant, bits):
    for others in range(4):
        said = counted(wrap.simulate(Wrap(variant=variant, sequence_bits=bits, others=others)))
        assert said["false_unlocked"] == 0
        assert said["false_locked"] <= said["locked"] <= said["read"]


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_nothing_is_wrong_before_the_sequence_comes_around(variant):
    said = counted(wrap.simulate(Wrap(variant=variant, sequence_bits=4)))
    assert said["false_locked"] == said["taken_for_marked"] == said["overtaken"] == 0


def test_a_mark_one_writer_short_of_a_wrap_lets_a_fault_be_overtaken():
    said = counted(wrap.simulate(Wrap(sequence_bits=2, others=1)))
    assert said["false_locked"] > 0
    assert said["overtaken"] > 0


def test_one_fault_and_one_writer_meet_where_the_mark_is_a_wrap_old():
    found = wraps.old_marks((Variant.V6_12, Variant.V7_3))
    assert (found["EXCLUDED"] != "").all()
    assert (found.xs("fork", level="writer")["FORKED"] != "").all()
    freed = found["ALIVE"] != ""
    assert freed[freed].index.tolist() == [("v6.12", "unmap")]
    # v2 counts after the writer: the numbers are equal already when the fault looks.
    assert wraps.old_mark(Variant.V2, "flags", Rule.EXCLUDED).rule is None
