"""How vhost-net sends: when it tries zero copy, and what a segmented packet makes of it.

`vhost_net_tx_select_zcopy()` and its neighbours (drivers/vhost/net.c, Linux 6.12): of 1,024 packets
it tries every one as long as none of them came back copied, and after that one in 64.

Simplification: that a packet was copied is known before the next one is sent. Where the card's
queue is full it is known later, and vhost tries up to a quarter of the ring's entries more.
"""

RESET = 1024
"""Packets after which both counts begin anew: vhost_net_tx_packet()."""


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
