"""Streams: what is refused, what the model derives, and what the recorded runs have to be."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import tcp, vhost
from lorelab.gso.pages import views
from lorelab.gso.params import Tcp, Variant, Vhost
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab.run import DEFAULTS


def test_a_variant_that_no_kernel_has():
    with pytest.raises(BadInput, match="the kernel has one of"):
        tcp.measure([Tcp(variant="parent-skb")])


def test_a_reader_checks_whole_words_and_others_take_any_size():
    with pytest.raises(BadInput, match="length=1401: takes a multiple of 8 from 64 up"):
        tcp.measure([Tcp(length=1401)])
    with pytest.raises(BadInput, match="segment=1401: takes a multiple of 8 from 64 up"):
        vhost.measure([Vhost(segment=1401)])
    assert vhost.measure.check(Vhost(segment=1401, unread=True), DEFAULTS) is None
    [tail] = (
        experiment("gso/tcp")
        .simulate(Tcp(length=1, sends=3))
        .query("counter == 'read_bytes'")["value"]
    )
    assert tail == 3


def test_the_card_is_given_segments_only():
    assert "burst 2000" in tcp.program(Tcp())["qdisc"][0]
    assert "loss 1%" in tcp.program(Tcp(loss=1))["qdisc"][1]
    assert "reorder 10%" in tcp.program(Tcp(reorder=10))["qdisc"][1]
    assert tcp.program(Tcp(variant="orphan"))["switches"] == {"gso/gso_mode": "orphan"}


@pytest.mark.parametrize("variant", list(Variant))
def test_only_the_last_segment_takes_a_stream_s_pages_from_its_retransmit_queue(variant):
    for loss in (0.0, 1.0):
        table = experiment("gso/tcp").simulate(Tcp(variant=variant, loss=loss))
        value = table.set_index("counter")["value"]
        assert value["corrupted"] == (variant == Variant.LAST_SEGMENT and loss > 0)
        assert value["complaints"] == (variant == Variant.LAST_SEGMENT)


def test_recorded_streams_agree():
    asked = experiment("gso/tcp")
    recorded = records.recorded("gso/tcp", asked.Params)
    assert len(recorded) >= 12
    for params in recorded:
        held = asked.agree(params, asked.recorded(params))
        assert held.verdict == AgreementVerdict.PASSED, (params, held.table[~held.table["agrees"]])


def test_wrong_bytes_are_seen_where_the_last_segment_tells():
    table = views.streams()
    wrong = table.index[(table[["loss", "reorder"]] == "wrong bytes").any(axis=1)]
    assert list(wrong) == ["last-segment"]
    assert (table["clean"] == "as sent").all()
