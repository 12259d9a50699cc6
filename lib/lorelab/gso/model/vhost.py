"""How vhost-net sends: when it tries zero copy, and what a segmented packet makes of it.

`vhost_net_tx_select_zcopy()` and its neighbours (drivers/vhost/net.c, Linux 6.12): of 1,024 packets
it tries every one as long as none of them came back copied, and after that one in 64.

Simplification: that a packet was copied is known before the next one is sent. Where the card's
queue is full it is known later, and vhost tries up to a quarter of the ring's entries more.

What it lent it gives back in the order of the ring (`vhost_zerocopy_signal_used()`), so one packet
that nobody reads keeps those behind it. It does not keep the ring: from `vhost_exceeds_maxpend()`
on packets are copied, and a copied one is given back at once.
"""

from collections.abc import Set
from typing import NamedTuple

RESET = 1024
"""Packets after which both counts begin anew: vhost_net_tx_packet()."""
VHOST_MAX_PEND = 128
"""Packets that vhost may have lent when it lends one more, if a quarter of the ring is not less."""


class Ring(NamedTuple):
    """What vhost has made of a guest's packets."""

    lent: int
    copied: int
    kept: int
    """Packets that were lent and not given back."""
    done: int
    """... of which so many have completed, and are kept by one in front of them."""


def zerocopies(packets: int, refcnt: bool) -> int:
    """How many packets are sent with the guest's pages.

    Parameters
    ----------
    packets : int
        Packets of at least VHOST_GOODCOPY_LEN (256) bytes that are segmented on their way, at most
        a quarter of the ring's entries outstanding at any time.
    refcnt : bool
        Whether skb_segment() leaves the pages alone; otherwise each try comes back as copied.
    """
    tries = tx_packets = tx_zcopy_err = 0
    for _ in range(packets):
        if tx_packets // 64 >= tx_zcopy_err:
            tries += 1
            if not refcnt:
                tx_zcopy_err += 1
        tx_packets += 1
        if tx_packets >= RESET:
            tx_packets = tx_zcopy_err = 0
    return tries


def unread(packets: int, entries: int, stuck: Set[int]) -> Ring:
    """Send packets of which some never complete, and all others before the next is sent.

    Parameters
    ----------
    packets : int
        Packets of at least VHOST_GOODCOPY_LEN (256) bytes whose segments share the guest's pages.
    entries : int
        Of vhost's ring.
    stuck : set of int
        Numbers of the packets whose receiver does not read, if they were lent.
    """
    most = min(VHOST_MAX_PEND, entries >> 2)
    kept: list[int] = []
    copied = 0
    for packet in range(packets):
        if len(kept) > most:
            copied += 1
        elif kept or packet in stuck:
            kept.append(packet)
    done = sum(packet not in stuck for packet in kept)
    return Ring(packets - copied, copied, len(kept), done)
