"""Many zero-copy sends, segmented in software, and what each of them takes: counted.

    send --> head --skb_segment--> segments --> qdisc (netem) --> device --> gone
                                                  \\ dropped         \\ tap, receive path

One CPU, one socket. A send's segments are enqueued while send() runs. What the qdisc does not hold
back leaves before send() returns, and so before the sender can rewrite a page; what it holds back
leaves after whatever the sender was told of by then. Functions and names are those of Linux 6.12;
what a variant does is in `lorelab.gso.params.TRAITS`.

Simplifications: frames are of Ethernet, IPv4 and UDP; the sender's buffers begin on a page; a
buffer is written again as soon as its send is told of.
"""

import numpy as np

from lorelab.gso.model.netem import loss_event, overtakes, prandom_seed_state
from lorelab.numerics import ONE, PAGE, ZERO, U, njit

PAGE_SIZE = U(PAGE)
PROBED = (
    "told",  # sends whose completion came
    "copied",  # ... and said that there was a copy
    "sent",  # segments that left
    "wrong",  # ... with what the sender wrote later
    "segmentations",  # calls of skb_segment()
    "holds",  # calls of skb_zerocopy_clone()
    "clones",  # calls of skb_clone()
    "copies",  # calls of skb_copy_ubufs()
    "copied_bytes",
    "completions",  # calls of msg_zerocopy_complete()
    "completions_copied",  # ... without success
)
"""What a kernel's probes and its reader count too."""
COSTS = (
    "allocations",  # sk_buffs, heads and pages
    "atomics",  # counts of pages, ubuf_infos, heads and shared data
    "lines",  # cache lines of shared infos
    "truesize",  # bytes charged for segments
)
LATER = ("tap_wrong",)
"""What an unread tap has of sends that were told of: clones that, once read, are what the sender
writes later. No run reads them."""
COUNTED = np.dtype([(name, "u8") for name in PROBED + COSTS + LATER])
SETTING = np.dtype(
    [
        (name, "u8")
        for name in (
            # parameters
            "sends", "length", "segment", "zerocopy", "held", "loss", "reorder", "tap", "received",
            # traits
            "copies", "at_send", "counts", "transfers", "parent", "clone_gets", "flagged",
            # sizes
            "head_truesize",  # of a segment's head and sk_buff [bytes]
            "info_bytes",  # of the shared info in front of its fragments [bytes]
        )
    ]
)  # fmt: skip


@njit
def pages(start, size):
    """Pages that bytes [start, start + size) of a buffer touch: its fragments."""
    return (start + size - ONE) // PAGE_SIZE - start // PAGE_SIZE + ONE


@njit
def run(setting, seed, counted):
    """Send all; adds to `counted`.

    Parameters
    ----------
    setting : (1,) SETTING
    seed : uint64
        netem's.
    counted : (1,) COUNTED
    """
    s, c = setting[0], counted[0]
    state = prandom_seed_state(seed)
    length, mss = s.length, s.segment
    k = (length + mss - ONE) // mss
    whole = pages(ZERO, length)
    user = s.zerocopy != ZERO and s.at_send == ZERO
    segmented = k > ONE
    orphaned = user and s.copies != ZERO and segmented
    kept = user and not orphaned  # segments refer to the sender's pages
    marked = kept and (s.counts != ZERO or (s.parent != ZERO and s.flagged != ZERO) or k == ONE)
    told = copied = sent = wrong = clones = copies = copied_bytes = completions = failed = ZERO
    tap_wrong = ZERO
    allocations = atomics = lines = truesize = ZERO
    for _ in range(s.sends):
        allocations += U(2)
        if s.zerocopy:
            allocations += ONE  # the notification, which holds the ubuf_info
        if not user:
            allocations += whole
        atomics += U(2) * whole
        any_copy = orphaned or (s.zerocopy != ZERO and not user)
        if orphaned:
            copies += ONE
            copied_bytes += length
            allocations += whole
            atomics += U(2) * whole
            completions += ONE
            failed += ONE
        early = kept and segmented and not (s.counts or s.parent or s.transfers)
        last_early = False
        waiting = ZERO
        lent = ZERO  # clones in the tap that refer to the sender's pages
        at = ZERO
        for i in range(k):
            size = min(mss, length - at)
            frags = pages(at, size)
            if segmented:
                allocations += U(2)
                atomics += U(2) * frags
                truesize += s.head_truesize + size
            lines += (s.info_bytes + U(16) * frags + U(63)) >> U(6)
            last = i == k - ONE
            flagged = marked or (kept and s.transfers != ZERO and last)
            dropped = loss_event(state, s.loss)
            ahead = not dropped and overtakes(state, s.reorder)
            if last and s.transfers and kept:
                last_early = dropped or ahead
            if not dropped:
                sent += ONE
                if s.held and not ahead:
                    waiting += ONE
                if s.tap:
                    clones += ONE
                    allocations += ONE
                    atomics += U(2)
                    if flagged:
                        copies += ONE
                        copied_bytes += size
                        allocations += ONE + pages(ZERO, size)
                        any_copy = True
                        if s.counts or s.transfers or k == ONE:
                            atomics += U(2)
                            completions += ONE
                            failed += ONE
                    elif kept:
                        lent += ONE
                        atomics += s.clone_gets
                if s.received and flagged:
                    copies += ONE
                    copied_bytes += size
                    allocations += pages(ZERO, size)
                    any_copy = True
                    if s.counts or k == ONE:
                        failed += ONE
            if kept and segmented:
                if s.counts:
                    completions += ONE
                    atomics += U(2)
                if s.parent:
                    atomics += U(2)
            at += mss
        kept_back = lent != ZERO and s.clone_gets != ZERO  # by clones that nobody reads
        if kept and not kept_back:
            completions += ONE
            atomics += ONE
        # A held segment that waits while its sender writes again leaves with what it writes.
        if early or last_early:
            wrong += waiting
        if s.zerocopy and not kept_back:
            told += ONE
            tap_wrong += lent
            if any_copy:
                copied += ONE
    c.told += told
    c.copied += copied
    c.sent += sent
    c.wrong += wrong
    c.clones += clones
    c.copies += copies
    c.copied_bytes += copied_bytes
    c.completions += completions
    c.completions_copied += failed
    c.allocations += allocations
    c.atomics += atomics
    c.lines += lines
    c.truesize += truesize
    c.tap_wrong += tap_wrong
    if segmented:
        c.segmentations += s.sends
        if s.counts or s.copies or not s.zerocopy:
            c.holds += s.sends * k
