"""The search of lifetimes: what it finds, against an oracle that plays packets as objects."""

import pytest

from lorelab.gso.experiments import lifetimes
from lorelab.gso.model.invariants import INVARIANTS
from lorelab.gso.params import Lifetimes, Variant
from lorelab.params import label
from tests.gso.experiments.packets import Play

MENDED = (Variant.ORPHAN, Variant.SHARED_COUNT, Variant.NO_ZEROCOPY)
SIMPLE = {"clone": False, "direct": False, "local": False}


def broken(variant, **scope):
    params = Lifetimes(variant=variant, **scope)
    return {n for n in INVARIANTS if lifetimes.shortest(params, n)}


@pytest.mark.parametrize("segments", [1, 2, 4])
@pytest.mark.parametrize("variant", MENDED)
def test_what_was_merged_keeps_every_invariant(variant, segments):
    assert broken(variant, segments=segments) == set()
    assert broken(variant, segments=segments, member=True) == set()


def test_the_shared_count_loses_a_flag_where_two_cpus_complete():
    assert broken(Variant.SHARED_COUNT, cpus=2) == {5}


def test_whoever_completes_is_no_third_cpu():
    """While both are inside of msg_zerocopy_complete() nothing else moves: no count is lost."""
    assert broken(Variant.SHARED_COUNT, cpus=2, segments=2, **SIMPLE) == set()


def test_a_tap_that_keeps_the_pages_breaks_the_receive_rule():
    tapped = {"segments": 1, "local": False, "direct": False}
    assert broken(Variant.HEAD_ONLY, **tapped) == {1, 7}
    assert broken(Variant.PARENT_SKB, **tapped) == {7, 8}
    assert broken(Variant.ORPHAN, **tapped) == set()


def test_without_the_receive_rule_a_queue_that_is_not_read_holds_the_pages():
    """A macvtap: the sender is told when the reader has read, and never too early."""
    assert broken(Variant.SHARED_COUNT, rx_orphan=False) == {7}
    assert broken(Variant.SHARED_COUNT, rx_orphan=False, local=False, clone=False) == set()
    assert broken(Variant.ORPHAN, rx_orphan=False) == set()


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_card_that_does_not_gather_is_told_of_as_lent_without_a_race(cpus):
    alone = {"segments": 1, **SIMPLE}
    assert broken(Variant.SHARED_COUNT, gather=False, cpus=cpus) == {5}
    assert broken(Variant.SHARED_COUNT, gather=False, cpus=cpus, **alone) == {5}
    assert broken(Variant.ORPHAN, gather=False) == set()
    assert broken(Variant.NO_ZEROCOPY, gather=False) == set()


def test_a_note_that_is_only_ever_set_is_not_lost():
    """The form of io_uring's completion: two CPUs break nothing."""
    assert broken(Variant.SHARED_COUNT, cpus=2, once=True) == set()
    assert broken(Variant.SHARED_COUNT, cpus=2, once=True, gather=False) == {5}
    assert broken(Variant.SHARED_COUNT, cpus=2, once=True, rx_orphan=False) == {7}


class TestPlacesOfTodaysKernel:
    @pytest.mark.parametrize("scope", ["fails", "nested", "retransmit"])
    @pytest.mark.parametrize("cpus", [1, 2])
    def test_the_shared_count_breaks_what_it_breaks_without_them(self, scope, cpus):
        lost = {5} if cpus == 2 else set()
        assert broken(Variant.SHARED_COUNT, segments=2, cpus=cpus, **{scope: True}) == lost
        assert broken(Variant.ORPHAN, segments=2, **{scope: True}) == set()
        assert broken(Variant.SHARED_COUNT, segments=2, cpus=2, once=True, **{scope: True}) == set()

    def test_a_packet_of_unreadable_pages_is_dropped_where_it_would_be_copied(self):
        """... so that no completion says copied, and none can be forgotten."""
        assert broken(Variant.SHARED_COUNT, readable=False) == set()
        assert broken(Variant.SHARED_COUNT, segments=2, cpus=2, readable=False) == set()
        assert broken(Variant.SHARED_COUNT, readable=False, gather=False) == set()
        [states] = states_of(variant=Variant.ORPHAN, readable=False)
        assert states == 3  # in its queue, dropped, and the sender writes again

    def test_of_a_stream_that_tcp_keeps_last_segment_alone_breaks(self):
        """As the streams of gso/tcp: clones and local queues are not on their way."""
        for variant in (Variant.HEAD_ONLY, Variant.ORPHAN, Variant.SHARED_COUNT):
            assert broken(variant, retransmit=True, **SIMPLE) == set()
        assert broken(Variant.PARENT, retransmit=True, **SIMPLE) == {8}
        assert broken(Variant.LAST_SEGMENT, retransmit=True, **SIMPLE) == {1}
        assert broken(Variant.HEAD_ONLY, retransmit=True, segments=2) == {1, 7}

    def test_a_segment_of_the_patch_that_is_segmented_again_holds_nothing(self):
        for variant in (Variant.PARENT, Variant.PARENT_SKB):
            assert broken(variant, nested=True, **SIMPLE) == {1, 8}
            assert broken(variant, nested=True, retransmit=True, segments=2, **SIMPLE) == {8}
        assert broken(Variant.PARENT_FIELD, nested=True) == {8}

    def test_a_segment_of_two_sends_is_copied_and_told_of_so(self):
        """... before any segment leaves, so that two CPUs do not lose it."""
        for cpus in (1, 2):
            scope = {"segments": 2, "cpus": cpus, "straddles": True}
            assert broken(Variant.SHARED_COUNT, **scope) == set()
            assert broken(Variant.SHARED_COUNT, **scope, readable=False) == set()
        assert broken(Variant.HEAD_ONLY, straddles=True, **SIMPLE) == {1}

    def test_a_second_send_that_copies_is_forgotten_on_two_cpus_alone(self):
        """... though no segment is copied, and so nothing of the first."""
        joined = {"segments": 2, "joined": True}
        assert broken(Variant.SHARED_COUNT, **joined) == set()
        assert broken(Variant.SHARED_COUNT, cpus=2, **joined, **SIMPLE) == {5}
        assert broken(Variant.SHARED_COUNT, cpus=2, once=True, **joined) == set()
        assert broken(Variant.NO_ZEROCOPY, cpus=2, **joined) == set()

    def test_memory_that_runs_out_is_a_drop_of_what_was_made(self):
        assert broken(Variant.SHARED_COUNT, fails=True, gather=False, **SIMPLE) == {5}
        assert broken(Variant.PARENT, fails=True, **SIMPLE) == {8}


def states_of(**scope):
    found = lifetimes.simulate(Lifetimes(**scope)).set_index("counter")["value"]
    return [int(found["states"])]


class TestTheDefectsOfThePatch:
    def test_a_clone_releases_the_head_twice(self):
        assert {1, 4, 9} <= broken(Variant.PARENT, direct=False, local=False)

    def test_a_free_past_the_two_functions_never_ends(self):
        assert {3, 6} <= broken(Variant.PARENT, clone=False, local=False)

    def test_a_member_of_the_frag_list_is_not_seen(self):
        assert 1 in broken(Variant.PARENT, member=True, **SIMPLE)

    def test_local_queues_keep_the_pages(self):
        assert 7 in broken(Variant.PARENT, clone=False, direct=False)

    def test_the_head_stays_charged(self):
        assert broken(Variant.PARENT, **SIMPLE) == {8}


def test_the_other_ways_break_as_the_thread_says():
    assert broken(Variant.HEAD_ONLY, **SIMPLE) == {1}
    assert broken(Variant.LAST_SEGMENT, **SIMPLE) == {1}
    assert broken(Variant.LAST_SEGMENT, segments=1, **SIMPLE) == set()
    assert broken(Variant.PARENT_SKB, direct=False) == {7, 8}
    assert broken(Variant.PARENT_FIELD) == {8}
    assert broken(Variant.PAGE_REFS) == broken(Variant.HEAD_ONLY)


@pytest.mark.parametrize("variant", list(Variant))
@pytest.mark.parametrize("member", [False, True])
def test_each_counterexample_is_one_for_packets_that_are_objects(variant, member):
    for clone, direct, local in [(True, True, True), (True, False, False), (False, True, True)]:
        params = Lifetimes(variant=variant, member=member, clone=clone, direct=direct, local=local)
        for number in INVARIANTS:
            steps = lifetimes.shortest(params, number)
            if steps:
                play = Play(params)
                for step, _ in steps:
                    assert number not in play.broken(), (label(variant), number)
                    play.take(step)
                assert number in play.broken(), (label(variant), number)


@pytest.mark.parametrize("variant", list(Variant))
def test_random_runs_of_objects_break_what_the_search_says(variant):
    params = Lifetimes(variant=variant, segments=2)
    found = broken(variant, segments=2)
    seen = set()
    for seed in range(3000):
        seen |= Play(params).random(seed)
    assert seen == found


def test_counters():
    found = lifetimes.simulate(Lifetimes(variant=Variant.PARENT, segments=2))
    values = found.set_index("counter")["value"]
    assert values["broken_i1"] > 0
    assert values["transitions"] > values["states"] > 100
