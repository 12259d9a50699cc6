"""vhost-net's choice at each bound of its two counts, and what becomes of packets."""

import pytest

from lorelab.gso.experiments import vhost
from lorelab.gso.model.vhost import Ring, unread, zerocopies
from lorelab.gso.params import Vhost


def test_one_in_64_is_tried():
    for packets in [*range(1, 131), *range(1022, 1092), 2048, 2049]:
        assert zerocopies(packets, refcnt=False) == -(-packets // 64)
        assert zerocopies(packets, refcnt=True) == packets


@pytest.mark.parametrize(
    ("entries", "most"), [(4, 2), (64, 17), (256, 65), (511, 128), (512, 129), (1024, 129)]
)
def test_one_packet_that_is_not_read_keeps_those_behind_it_and_not_the_ring(entries, most):
    first = unread(1000, entries, {0})
    assert first == Ring(lent=most, copied=1000 - most, kept=most, done=most - 1)
    # What was sent before it is given back; and what is copied is not stuck.
    assert unread(1000, entries, {7}) == Ring(most + 7, 993 - most, most, most - 1)
    assert unread(1000, entries, {0, 999}) == first
    assert unread(1000, entries, set(range(1000))) == first._replace(done=0)
    assert unread(most, entries, {most - 1}) == Ring(most, 0, 1, 0)
    assert unread(1000, entries, set()) == Ring(1000, 0, 0, 0)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # 128 packets of three segments, two of them tried, and copied; with the count all are.
        (
            {"refcnt": False},
            {"segmentations": 128, "copies": 2, "copied_bytes": 2 * 2808, "completions": 2},
        ),
        (
            {"refcnt": True},
            {"segmentations": 128, "copies": 0, "copied_bytes": 0, "completions": 128 * 4},
        ),
    ],
)
def test_what_becomes_of_packets(given, expected):
    table = vhost.simulate(Vhost(sends=128, length=2808, **given))
    values = dict(zip(table["counter"], table["value"], strict=True))
    failed = {"completions_copied": expected["copies"]}
    assert values == {"told": 128, "sent": 3 * 128, "wrong": 0} | expected | failed
    assert set(table["variant"]) == {"refcnt" if given["refcnt"] else "upstream"}


def test_without_zero_copy_nothing_is_lent_and_of_tcp_nobody_checks_the_bytes():
    for given in ({}, {"unread": True}, {"refcnt": True}):
        table = vhost.simulate(Vhost(sends=128, zerocopy=False, **given))
        values = dict(zip(table["counter"], table["value"], strict=True))
        assert values["segmentations"] == values["told"] == 128
        for name in ("copies", "copied_bytes", "completions", "completions_copied"):
            assert values[name] == 0
    udp, tcp = (vhost.simulate(Vhost(protocol=which)) for which in ("udp", "tcp"))
    rest = udp[udp["counter"] != "wrong"].reset_index(drop=True)
    assert len(udp) == len(tcp) + 1 and rest.equals(tcp)
    with pytest.raises(ValueError, match="takes up to 65495 bytes"):
        Vhost(protocol="tcp", segment=1461)
    with pytest.raises(ValueError, match="takes up to 65495 bytes"):
        Vhost(protocol="tcp", length=65_496)
    assert Vhost(protocol="tcp", length=65_495, segment=1460)


@pytest.mark.parametrize(
    ("refcnt", "copies", "completions"),
    # Two of 128 packets are tried in both: each comes back as copied, whole or in three segments.
    [(False, 2, 2), (True, 2 * 3, 2 * 4)],
)
def test_a_tap_that_nobody_reads_keeps_no_packet(refcnt, copies, completions):
    table = vhost.simulate(Vhost(sends=128, length=2809, segment=1400, unread=True, refcnt=refcnt))
    assert dict(zip(table["counter"], table["value"], strict=True)) == {
        "told": 128,
        "segmentations": 128,
        "copies": copies,
        "copied_bytes": 2 * 2809,
        "completions": completions,
        "completions_copied": copies,
        "waiting": 0,
    }
