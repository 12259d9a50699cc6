"""What a sender is told of sends that were copied and of sends that were not.

A completed `MSG_ZEROCOPY` send queues a notification, unless the newest one that nobody has read
yet ends right before it: then `skb_zerocopy_notify_extend()` (net/core/skbuff.c, Linux 6.12) makes
that one longer. It compares the numbers of the sends and not `ee_code`, so the longer one says of
all its sends what it said of the first:

        send 0, lent       queued      0..0
        send 1, copied     extends     0..1    "not copied"
"""

from typing import NamedTuple


class Notification(NamedTuple):
    """What one `recvmsg(MSG_ERRQUEUE)` gives: `ee_info`, `ee_data`, and the word of `ee_code`."""

    low: int
    high: int
    copied: bool


def extends(tail: Notification, send: int, copied: bool, mended: bool) -> bool:
    """Whether a send is told of by a notification that is queued already."""
    return send == tail.high + 1 and (not mended or copied == tail.copied)


def notifications(
    copied: list[bool], late: bool, mended: bool = False, fixed: bool = False
) -> list[Notification]:
    """Complete sends one after the other.

    Parameters
    ----------
    copied : list of bool
        Of each send, whether its bytes were copied.
    late : bool
        The sender reads after the last; otherwise after each.
    mended : bool
        A notification is not extended by a send of the other kind.
    fixed : bool
        One that is extended says copied if any of its sends was.

    Returns
    -------
    list of Notification
        In the order in which they are read.
    """
    queue: list[Notification] = []
    for send, copy in enumerate(copied):
        if late and queue and extends(queue[-1], send, copy, mended):
            word = queue[-1].copied or (fixed and copy)
            queue[-1] = Notification(queue[-1].low, send, word)
        else:
            queue.append(Notification(send, send, copy))
    return queue
