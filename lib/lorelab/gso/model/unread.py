"""Packets of one sender that lie in the ring or queue of a receiver which nobody reads.

    send() --> macvlan, ipvlan --> tap_handle_frame()      --> ring      macvtap, ipvtap
    send() --> veth (--> bridge) --> tap_handle_frame()    --> ring      macvtap on veth, on bridge
    send() --> veth --> bridge --> tun_net_xmit()          --> ring      tun
    send() --> veth --> ip_forward() --> ip_call_ra_chain() --> queue    raw

tun_net_xmit() copies a packet's user pages (`skb_orphan_frags_rx`) and takes it off its socket
(`skb_orphan`) before it lies in the ring. tap_handle_frame() does neither. Only a reader that does
not take packets without a checksum has them copied there: skb_checksum_help() makes them linear.

ip_rcv_core() takes a packet off its socket. Before ip_call_ra_chain() queues it to a raw socket
with IP_ROUTER_ALERT, __netif_receive_skb_core() of 6.12 has copied its user pages. 7.3 copies in
ip_local_deliver_finish(), where such a packet does not come.
"""

from typing import NamedTuple

from lorelab.gso.model.layout import small_head_cache, truesize
from lorelab.numerics import PAGE

MAX_HEADER = 176
"""Of Debian's configs: a mesh of 802.11, and tunnels."""
SHARED_INFO, SK_BUFF = 320, 232
OPTMEM_MAX = 128 << 10
"""Default of net.core.optmem_max."""
HEADERS = 16 + 15 + 20 + 8
"""Room of a head for Ethernet, with what __ip_append_data() adds to it, IPv4 and UDP [bytes]."""


class Left(NamedTuple):
    """Of sends that each fit into a page and a packet."""

    taken: int
    """Sends before one would have waited."""
    told: int
    copied: int
    pinned: int
    """Pages of the sender's after it is gone."""
    owned: bool
    """Whether what lies there holds the sender's socket: charged to it, or not yet completed."""


def charge(length: int, zerocopy: bool) -> int:
    """What one packet is charged to its socket [bytes]."""
    small = small_head_cache(SHARED_INFO, MAX_HEADER)
    linear = HEADERS + (0 if zerocopy else length)
    return truesize(linear, SHARED_INFO, SK_BUFF, small) + (PAGE if zerocopy else 0)


def notifications(optmem: int = OPTMEM_MAX) -> int:
    """Notifications of one socket that may be outstanding, in which nothing was merged.

    sock_omalloc() makes one while what is charged, and SKB_TRUESIZE(0) more, is within `optmem`.
    """
    one = truesize(0, SHARED_INFO, SK_BUFF, small_head_cache(SHARED_INFO, MAX_HEADER))
    return 1 + (optmem - truesize(0, SHARED_INFO, SK_BUFF, SHARED_INFO)) // one


def left(sends: int, length: int, sndbuf: int, zerocopy: bool, copies: bool, orphans: bool) -> Left:
    """What a receiver that copies or not, and orphans or not, leaves of the sends.

    sock_alloc_send_pskb() takes a send while what is charged is below `sndbuf`; a zero-copy send
    takes a notification, too, until the sender has been told.
    """
    taken = sends if orphans else min(sends, -(-sndbuf // charge(length, zerocopy)))
    if zerocopy and not copies:
        taken = min(taken, notifications())
    told = taken if zerocopy and copies else 0
    pinned = taken - told if zerocopy else 0
    return Left(taken, told, told, pinned, pinned > 0 or not orphans)
