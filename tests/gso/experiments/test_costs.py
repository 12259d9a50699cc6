"""What sends cost: each page, reference and cache line put into a list, and the list counted."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lorelab.gso.experiments import traffic
from lorelab.gso.model import netem
from lorelab.gso.model.traffic import COSTS, pages
from lorelab.gso.params import TRAITS, Traffic, Variant
from lorelab.numerics import U
from tests.gso.experiments.test_traffic import loads
from tests.gso.model.test_netem import tausworthe

HEAD, SK_BUFF, INFO, FRAGMENT = 640, 256, 48, 16
"""Bytes: a segment's head and its sk_buff; of a shared info what is in front of its fragments."""


def touched(start, size):
    """First byte of each page of these bytes."""
    return set(range(start - start % 4096, start + size, 4096))


def paid(params):
    """Totals of COSTS."""
    traits, numbers = TRAITS[params.variant], tausworthe(params.seed)
    loss, reorder = netem.probability(params.loss), netem.probability(params.reorder)
    made, counts, lines, charged = [], [], [], 0
    starts = range(0, params.length, params.segment)
    cut = len(starts) > 1
    for _ in range(params.sends):
        lent = params.zerocopy and not traits.at_send
        made += ["sk_buff", "head"] + ["notification"] * params.zerocopy
        whole = touched(0, params.length)
        by_clones = 0  # references of the head that lie in the tap
        made += [] if lent else [("page", page) for page in whole]
        counts += 2 * [("page", page) for page in whole]
        if lent and cut and traits.copies:
            lent = False
            made += [("copy", page) for page in whole]
            counts += 2 * [("copy", page) for page in whole]
        for start in starts:
            size = min(params.segment, params.length - start)
            fragments = touched(start, size)
            info = INFO + traits.shared_info_bytes
            lines += {at // 64 for at in range(info + FRAGMENT * len(fragments))}
            last = start == starts[-1]
            # Who holds the ubuf_info: each segment, the last one, or the packet that was not cut.
            holds = lent and (not cut or traits.counts or (traits.transfers and last))
            if cut:
                made += ["sk_buff", "head"]
                counts += 2 * [("fragment", page) for page in fragments]
                # A pointer fits into the sk_buff's slab, and takes the shared info a line more.
                charged += HEAD + SK_BUFF + 64 * (traits.shared_info_bytes > 0) + size
            if lent and cut:
                counts += 2 * ["ubuf_info"] * traits.counts + 2 * ["head"] * traits.parent
            dropped = loss > 0 and loss >= next(numbers)
            if not dropped and reorder > 0:
                next(numbers)
            if dropped:
                continue
            flagged = holds or (lent and cut and traits.parent and traits.flagged)
            if params.tap:
                made += ["clone"]
                counts += 2 * ["shared data"]
                if flagged:
                    # The clone gets a head of its own and a page; its shared info held what the
                    # segment's did, and gives it back.
                    made += ["head", "page"]
                    counts += 2 * ["ubuf_info"] * holds
                elif lent and traits.clone_gets:
                    counts += ["head"]
                    by_clones += 1
            if params.received and flagged:
                made += ["page"]
        counts += ["the last put"] * (lent and not by_clones)
    return dict(zip(COSTS, (len(made), len(counts), len(lines), charged), strict=True))


@settings(max_examples=150)
@given(loads())
@example({"length": 1472, "segment": 1472, "tap": True, "sends": 2})
@example({"length": 1472, "segment": 1472, "received": True, "sends": 2})
@example({"length": 1480, "segment": 1472, "tap": True, "variant": Variant.PARENT_FIELD})
@example({"length": 4096, "segment": 1024, "variant": Variant.LAST_SEGMENT, "tap": True})
@example({"length": 4104, "segment": 1368, "variant": Variant.ORPHAN, "zerocopy": False})
def test_a_send_costs_what_is_listed(given_):
    params = Traffic(**given_)
    counted = traffic.count(params)
    assert {name: counted[name] for name in COSTS} == paid(params)


@given(st.integers(0, 3 * 4096), st.integers(1, 3 * 4096))
@example(0, 4096)
@example(0, 4097)
@example(4095, 1)
@example(4095, 2)
def test_pages_of_bytes(start, size):
    found = {byte // 4096 for byte in range(start, start + size)}
    assert int(pages(U(start), U(size))) == len(touched(start, size)) == len(found)


def test_a_setting_is_filled_by_name(monkeypatch):
    params = Traffic(variant="parent", sends=3, held=True, loss=100, tap=True)
    expected = {"sends": 3, "loss": 2**32 - 1, "tap": 1, "parent": 1, "copies": 0, "info_bytes": 56}
    # What it reads may stand anywhere, and may be more: of the rest, that is, of what there is.
    names = traffic.SETTING.names
    for order in (names, names[::-1], ("members", *names)):
        monkeypatch.setattr(traffic, "SETTING", np.dtype([(name, "u8") for name in order]))
        [found] = traffic.setting(params)
        assert {name: found[name] for name in expected} == expected
    assert found["members"] == 0
    monkeypatch.setattr(traffic, "SETTING", np.dtype([(name, "u8") for name in (*names, "new")]))
    with pytest.raises(KeyError, match="new"):
        traffic.setting(params)


def test_a_trait_and_a_parameter_of_one_name_are_refused():
    with pytest.raises(ValueError, match="tap: is the name of two things"):
        traffic.apart({"tap": 1, "held": 1, "loss": 0}, {"tap": 0}, {"held": 0})
    assert traffic.apart({"tap": 1}, {"held": 0}) == {"tap": 1, "held": 0}


def test_a_counter_more_has_its_own_place(monkeypatch):
    """Counters are read by name: one in front moves none of the others."""
    params, before = Traffic(sends=2), traffic.count(Traffic(sends=2))
    dtype = np.dtype([("new", "u8"), *traffic.COUNTED.descr])
    monkeypatch.setattr(traffic, "COUNTED", dtype)
    assert traffic.count(params) == {"new": 0, **before}
