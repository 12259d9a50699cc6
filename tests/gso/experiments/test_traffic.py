"""Traffic: against an oracle that keeps each packet, and the kernel's records."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.experiments import flag, lastsegment, traffic
from lorelab.gso.kernel.boot import MODES
from lorelab.gso.kernel.traffic import check
from lorelab.gso.model import netem
from lorelab.gso.model.traffic import LATER, PROBED
from lorelab.gso.pages import simulated, views
from lorelab.gso.params import TRAITS, Flag, LastSegment, Traffic, Variant
from lorelab.params import parse
from tests.gso.model.test_netem import tausworthe

U = np.uint64


@given(st.integers(0, 2**64 - 1))
def test_netem_s_generator(seed):
    state, numbers = netem.prandom_seed_state(U(seed)), tausworthe(seed)
    assert [int(netem.prandom_u32_state(state)) for _ in range(20)] == [
        next(numbers) for _ in range(20)
    ]


def played(params: Traffic) -> dict[str, int]:
    """Every packet as a dictionary, sent one after the other."""
    traits, numbers = TRAITS[params.variant], tausworthe(params.seed)
    loss, reorder = netem.probability(params.loss), netem.probability(params.reorder)
    found = dict.fromkeys(PROBED + LATER, 0)
    for _ in range(params.sends):
        sizes, left = [], params.length
        while left:
            sizes.append(min(left, params.segment))
            left -= sizes[-1]
        cut = len(sizes) > 1
        lent = params.zerocopy and not traits.at_send
        copied = params.zerocopy and not lent
        if cut:
            found["segmentations"] += 1
            if traits.counts or traits.copies or not params.zerocopy:
                found["holds"] += len(sizes)
        if lent and cut and traits.copies:
            lent, copied = False, True
            for name in ("copies", "completions", "completions_copied"):
                found[name] += 1
            found["copied_bytes"] += params.length
        holders = [lent and (not cut or traits.counts) for _ in sizes]
        if lent and cut and traits.transfers:
            holders[-1] = True
        stubs = [lent and cut and traits.parent and traits.flagged for _ in sizes]
        early = lent and cut and not (traits.counts or traits.parent or traits.transfers)
        waiting, borrowed = [], 0
        for n, size in enumerate(sizes):
            dropped = loss > 0 and loss >= next(numbers)
            ahead = not dropped and reorder > 0 and reorder >= next(numbers)
            if lent and cut and traits.transfers and n == len(sizes) - 1 and (dropped or ahead):
                early = True
            if dropped:
                continue
            found["sent"] += 1
            if params.held and not ahead:
                waiting.append(n)
            if params.tap:
                found["clones"] += 1
            for _ in range(params.tap + params.received):
                if holders[n] or stubs[n]:
                    found["copies"] += 1
                    found["copied_bytes"] += size
                    copied = True
                    found["completions_copied"] += holders[n]
            if params.tap:
                found["completions"] += holders[n]
                borrowed += lent and not (holders[n] or stubs[n])
        # A clone that holds the head lies in a tap that nobody reads.
        open_ = borrowed and traits.clone_gets
        if lent and not open_:
            found["completions"] += 1 + (sum(holders) if cut and traits.counts else 0)
        found["wrong"] += len(waiting) if early else 0
        found["told"] += params.zerocopy and not open_
        found["copied"] += copied and not open_
        found["tap_wrong"] += 0 if open_ else borrowed
    return found


@st.composite
def loads(draw):
    variant = draw(st.sampled_from(list(Variant)))
    traits = TRAITS[variant]
    length = draw(st.integers(1, 65_507))
    segment = draw(st.integers(-(-length // 128), 1472))
    held = draw(st.booleans())
    return {
        "variant": variant,
        "sends": draw(st.integers(1, 5)),
        "length": length,
        "segment": segment,
        "zerocopy": draw(st.booleans()),
        "held": held,
        "loss": draw(st.sampled_from([0, 3.5, 50, 100])),
        "reorder": draw(st.sampled_from([0, 10, 100])) if held else 0,
        "seed": draw(st.integers(0, 2**64 - 1)),
        "tap": draw(st.booleans()),
        "received": (traits.flagged or traits.copies) and draw(st.booleans()),
    }


@settings(max_examples=300)
@given(loads())
def test_the_model_counts_what_an_oracle_counts(given_):
    params = Traffic(**given_)
    counted = traffic.count(params)
    assert {name: counted[name] for name in PROBED + LATER} == played(params)


FIXED = {
    # A design that copies first copies nothing of a packet that is not cut; its receiver does.
    "copy first, one segment, received": {"variant": "orphan", "received": True, "length": 1400},
    "count, one segment, received": {"received": True, "length": 1400},
    "one segment, tap": {"variant": "orphan", "tap": True, "length": 1400},
    "smallest": {"length": 1, "segment": 1},
    "as many segments as UDP_SEGMENT takes": {"length": 128, "segment": 1, "tap": True},
    "largest": {"length": 65_507, "segment": 1472},
    "a tail of one byte": {"length": 1401, "segment": 1400, "tap": True},
    "odd sizes": {"length": 12_345, "segment": 1333, "received": True},
    "clones that lie in the tap": {"variant": "parent", "tap": True, "held": True},
    "clones of what was copied first": {"variant": "orphan", "tap": True},
    "clones that keep the head": {"variant": "parent-skb", "tap": True},
    "... but not of what is lost": {
        "variant": "parent-skb",
        "tap": True,
        "length": 2800,
        "held": True,
        "loss": 60.0,
    },
    "several losses": {"held": True, "loss": 30.0, "reorder": 20.0, "variant": "last-segment"},
    "all lost": {"held": True, "loss": 100.0, "tap": True},
}
"""What a drawn case meets by chance only."""


@pytest.mark.parametrize("case", FIXED)
def test_the_model_counts_what_an_oracle_counts_at_the_ends(case):
    params = parse(Traffic, {"sends": 7, **FIXED[case]})
    counted = traffic.count(params)
    assert {name: counted[name] for name in PROBED + LATER} == played(params)


@pytest.mark.parametrize(
    ("given_", "more"),
    [
        ({}, {}),
        ({"tap": True}, {}),
        ({"tap": True, "variant": "head-only"}, {"tap_wrong": 20}),
        ({"variant": "no-zerocopy"}, {"copied_by_send": 28_000}),
        ({"zerocopy": False}, {"copied_by_send": 28_000}),
    ],
)
def test_what_no_kernel_counts_is_there_in_every_run(given_, more):
    params = parse(Traffic, {"sends": 2, "length": 14_000, **given_})
    values = traffic.simulate(params).set_index("counter")["value"].to_dict()
    counted = {name: values[name] for name in set(values) - set(PROBED)}
    assert counted == {"tap_wrong": 0, "copied_by_send": 0} | more


@pytest.mark.parametrize(("segments", "taken"), [(127, True), (128, True), (129, False)])
def test_udp_segment_takes_128(segments, taken):
    given_ = {"length": 64 * segments, "segment": 64}
    if taken:
        assert traffic.count(parse(Traffic, given_))["holds"] == 40 * segments
        return
    with pytest.raises(BadInput, match="takes up to 128"):
        parse(Traffic, given_)


BOUNDS = {"variant": "head-only", "held": True, "loss": 5.0, "reorder": 10.0}


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("least", {"passed"}),
        ("below", {"failed"}),
        ("above", {"passed", "undecided"}),
        ("most", {"passed", "undecided"}),
        ("beyond", {"failed"}),
    ],
)
def test_agreement_at_its_bounds(wrong, expected):
    asked = experiment("gso/traffic")
    params = parse(Traffic, BOUNDS)
    record = asked.recorded(params)
    said = traffic.count(params)
    least, most = said["wrong"], said["sent"]
    value = {
        **{"least": least, "below": least - 1, "above": least + 1},
        **{"most": most, "beyond": most + 1},
    }[wrong]
    counters = record.counters.copy()
    counters.loc[counters["counter"] == "wrong", "value"] = value
    found = asked.agree(params, record._replace(counters=counters))
    assert found.verdict in expected
    [row] = found.table.loc[found.table["counter"] == "wrong", "agrees"]
    assert bool(row) == (found.verdict != "failed")


@pytest.mark.parametrize(("within", "expected"), [(0, "passed"), (-1e-9, "undecided")])
def test_a_deviation_of_just_so_much_is_decided(monkeypatch, within, expected):
    from lorelab.gso.agree import traffic as agreement

    asked = experiment("gso/traffic")
    params = parse(Traffic, BOUNDS)
    record = asked.recorded(params)
    said = traffic.count(params)
    monkeypatch.setattr(agreement, "WITHIN", said["sent"] / said["wrong"] - 1 + within)
    counters = record.counters.copy()
    counters.loc[counters["counter"] == "wrong", "value"] = said["wrong"] + 1
    found = agreement.agree(params, record._replace(counters=counters))
    assert found.verdict == expected


def test_every_recorded_run_equals_the_model():
    for name, least in (("gso/traffic", 30), ("gso/vhost", 5)):
        table = views.recorded(name)
        assert len(table) >= least
        assert views.agreed(table)


def test_a_changed_model_is_seen(monkeypatch):
    monkeypatch.setitem(
        TRAITS, Variant.SHARED_COUNT, TRAITS[Variant.SHARED_COUNT]._replace(counts=False)
    )
    assert not views.agreed(views.recorded("gso/traffic"))


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"length": 65_000, "segment": 64}, "segments; UDP_SEGMENT takes up to 128"),
        ({"reorder": 5}, "takes held=true"),
        ({"received": True, "variant": "parent"}, "depends on when"),
        ({"variant": "nothing"}, "takes one of head-only"),
    ],
)
def test_bad_input(given_, said):
    with pytest.raises(BadInput, match=said):
        parse(Traffic, given_)


def test_what_the_kernel_can_t_follow():
    for given_, said in (
        ({"variant": "no-zerocopy"}, "the kernel has one of"),
        ({"sends": 10_000_000}, "the guest has buffers for"),
        ({"loss": 1}, "takes held=true"),
        ({"length": 1401}, "length=1401: takes a multiple of 8 from 64 up on a kernel"),
        ({"segment": 56, "length": 5600}, "segment=56: takes a multiple of 8"),
        ({"tap": True, "variant": "parent"}, "gso/lifetimes"),
    ):
        with pytest.raises(BadInput, match=said):
            check(parse(Traffic, given_))
    assert set(MODES.values()) == {"upstream", "orphan", "parent", "thread", "last", "none"}


def test_the_flag_and_the_last_segment_as_experiments():
    values = flag.simulate(Flag()).set_index("counter")["value"]
    assert (values["interleavings"], values["lost"]) == (6, 2)
    table = simulated.shares([1, 2, 5, 40])
    assert table["sigma"].abs().max() < 4
    values = lastsegment.simulate(LastSegment(segments=2, packets=1000)).set_index("counter")
    assert values["value"]["unsafe"] == values["value"]["exposed"]


def test_the_last_of_five_segments_leaves_two_others_exposed_on_average():
    """As many as any number from 0 to 4, in orders that are alike: a variance of 2."""
    packets = 2000
    table = lastsegment.simulate(LastSegment(segments=5, packets=packets))
    assert set(table["source"]) == {"model"}
    values = table.set_index("counter")["value"]
    assert abs(values["unsafe"] / packets - 4 / 5) < 4 * (4 / 25 / packets) ** 0.5
    assert abs(values["exposed"] / packets - 2) < 4 * (2 / packets) ** 0.5


def test_experiments_have_their_halves():
    assert experiment("gso/traffic").backends == "model and kernel"
    assert experiment("gso/vhost").backends == "model and kernel"
    assert experiment("gso/lifetimes").backends == "model"


def test_a_newer_kernel_counts_as_the_model_does():
    newer = views.newer("gso/traffic")
    assert set(newer["kernel"].str.split(".").str[0]) == {"7"}
    assert "held=true,loss=5.0,reorder=10.0" in set(newer["run"])
    assert (newer["differ"] == "none").all()
