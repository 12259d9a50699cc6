"""One zero-copy send from its segments to its end, in every order: states and steps.

    sender's pages <-- head --segment--> segments --> qdisc --> ring --> sent
         ^               |                   |          \\--> dropped
         |               v                   +--> clone    \\--> local queue --> read
     may rewrite <-- ubuf_info: count, told, "copied"

The sender may rewrite its pages once it has been told, and does so at any time from then on. A
packet that is sent or read after that, and still refers to those pages, carries the wrong bytes.
Which functions copy, hold and release what is the variant's (`lorelab.gso.params.TRAITS`); names
are those of net/core/skbuff.c, Linux 6.12.

A state has three words: what is counted, the packets (8 bits each) and the clone; the invariants
that it may break are in `lorelab.gso.model.invariants`. Simplifications, and what each changes:

- Segmentation is one step: no other CPU sees a segment before the head is released. One that runs
  out of memory (`fails`) leaves its segments to be freed, and then the head.
- One segment at most is segmented again (`nested`), in the qdisc and into two, and copied bytes
  stay copied. A segment of PARENT_FIELD hands the parent on.
- At most one clone, of one segment. Two clones of one segment differ from one in the counts alone.
- Memory runs out in segmentation alone; skb_copy_ubufs() fails where it can't read (`readable`).
- With `retransmit` TCP's own sk_buff shares the head's data until all has arrived. A lost packet
  is sent again once, whole, from that data, and is not cloned.
- With `joined` a second send copies into a later sk_buff of the ubuf_info, which then completes.
- With `straddles` the last segment has pages of a second ubuf_info, its own after it is copied.
- `rx_orphan` is one rule for all local queues: upstream's for sockets and tun, none for macvtap.
- With `cpus` 2, msg_zerocopy_complete() is taken apart into its load, its store and its decrement;
  everything else stays one step.
"""

from lorelab.checker import U, njit, successors

ZERO, ONE = U(0), U(1)

# What `setting` holds: the scope, what is looked for, the variant's traits.
SCOPE = (
    "segments", "clone", "local", "direct", "member", "rx_orphan", "gather", "readable", "fails",
    "nested", "retransmit", "straddles", "once", "cpus",
)  # fmt: skip
(
    SEGMENTS, CLONE, LOCAL, DIRECT, MEMBER, RX_ORPHAN, GATHER, READABLE, FAILS,
    NESTED, RETRANSMIT, STRADDLES, ONCE, CPUS, WANTED,
) = (U(n) for n in range(15))  # fmt: skip
TRAIT_NAMES = (
    "copies", "at_send", "counts", "transfers", "parent", "clone_gets", "by_data", "flagged",
    "members",
)  # fmt: skip
COPIES, AT_SEND, COUNTS, TRANSFERS, PARENT, CLONE_GETS, BY_DATA, FLAGGED, MEMBERS = (
    U(15 + n) for n in range(9)
)

# Word 0: shifts of its fields.
REF, TOLD, ZEROCOPY, COPIED, REWRITTEN, SEGMENTED = U(0), U(4), U(6), U(7), U(8), U(9)
USERS, HEAD_ZCOPY, HEAD_PAGES, CPU = U(10), U(14), U(15), U(16)
STALE, TWICE, FREED = U(24), U(25), U(26)  # seen: I1, I2, I9
KEPT, FAILED = U(27), U(28)  # TCP's sk_buff has the head's data; skb_segment() ran out of memory
TAIL, WAITS, GREW = U(29), U(1), U(2)  # a later sk_buff of the ubuf_info; a second send is in it
NIBBLE, TWO_BITS = U(15), U(3)
# A CPU inside msg_zerocopy_complete(): bits 0-1 how far, 2 what it loaded, 3 its success.
LOADED, STORED = U(1), U(2)

# Words 1 and 2: of a packet.
PLACE, PAGES, ZCOPY, HOLDS = U(7), U(8), U(16), U(32)
NOWHERE, QDISC, RING, QUEUE, TAP, GONE, FREEING = (U(n) for n in range(7))
PACKET = U(0xFF)
ARRIVED, AGAIN = U(1 << 6), U(1 << 7)  # a segment: was sent or read; TCP sent it once more
PART = U(7)  # which packet is the second part of a segment that was segmented again
PRIVATE, MADE, OF = U(1 << 6), U(1 << 7), U(8)  # the clone: data of its own; made; of which segment

STEPS = (
    "segment", "drop", "dequeue", "sent", "sent_direct", "deliver", "read", "read_direct", "tap",
    "flood", "unclone", "rewrite", "store", "put", "fail", "again", "retransmit", "ack", "join",
    "tail",
)  # fmt: skip
(
    SEGMENT, DROP, DEQUEUE, SENT, SENT_DIRECT, DELIVER, READ, READ_DIRECT, TAPPED, FLOOD, UNCLONE,
    REWRITE, STORE, PUT, FAIL, SPLIT, RESEND, ACK, JOIN, LEAVE_TAIL,
) = (U(n) for n in range(len(STEPS)))  # fmt: skip
THE_CLONE, THE_HEAD, THE_SENDER = U(4), U(5), U(6)
EIGHT, TWO, FOUR = U(8), U(2), U(4)
MOST_FOLLOWING = 48


@njit
def get(word, shift, mask):
    return (word >> shift) & mask


@njit
def _put_ubuf(counts):
    """The decrement of msg_zerocopy_complete(), and what follows at zero."""
    if not get(counts, REF, NIBBLE):
        return counts | ONE << FREED
    counts -= ONE << REF
    if not get(counts, REF, NIBBLE):
        if get(counts, TOLD, TWO_BITS):
            return counts | ONE << TWICE
        counts += ONE << TOLD
    return counts


@njit
def _complete(counts, success, setting):
    """msg_zerocopy_complete(): `zerocopy &= success`, then the count."""
    if not success:
        counts |= ONE << COPIED
    if setting[CPUS] == ONE:
        if not success:
            counts &= ~(ONE << ZEROCOPY)
        return _put_ubuf(counts)
    cpu = CPU if not get(counts, CPU, TWO_BITS) else CPU + FOUR
    inside = LOADED | get(counts, ZEROCOPY, ONE) << TWO | success << U(3)
    return counts | inside << cpu


@njit
def _put_head(counts, setting):
    """kfree_skb(head), and skb_release_data() of its data at zero."""
    if not get(counts, USERS, NIBBLE):
        return counts | ONE << FREED
    counts -= ONE << USERS
    if not get(counts, USERS, NIBBLE) and not get(counts, KEPT, ONE):
        counts = _release_head_data(counts, setting)
    return counts


@njit
def _release_head_data(counts, setting):
    """skb_release_data() of what the head and TCP's sk_buff share."""
    counts &= ~(ONE << HEAD_PAGES)
    if get(counts, HEAD_ZCOPY, ONE):
        counts &= ~(ONE << HEAD_ZCOPY)
        counts = _complete(counts, ONE, setting)
    return counts


@njit
def _release_data(counts, packet, setting):
    """skb_release_data() at the last reference: the ubuf_info, the parent, the pages."""
    if packet & ZCOPY:
        counts = _complete(counts, ONE, setting)
    if packet & HOLDS and setting[BY_DATA]:
        counts = _put_head(counts, setting)
    return counts


@njit
def _shared(clone, segment):
    """Whether the clone shares the data of a segment."""
    return (
        clone & PLACE != NOWHERE and clone & PLACE != GONE and not clone & PRIVATE
        and get(clone, OF, U(7)) == segment
    )  # fmt: skip


@njit
def data_of(segments, clone):
    """What the clone's data is: its own bits, or those of the segment that it shares with."""
    if clone & PRIVATE:
        return clone
    return get(segments, EIGHT * get(clone, OF, U(7)), PACKET)


@njit
def _segment(counts, room, setting):
    """skb_segment() with memory for so many segments, and the release of the head; both words."""
    n = setting[SEGMENTS]
    seen = setting[MEMBERS] or not setting[MEMBER]
    lent = get(counts, HEAD_PAGES, ONE)
    if lent and (setting[COPIES] or not setting[GATHER]) and not setting[READABLE]:
        return _put_head(counts, setting), ZERO  # -EFAULT, and the caller frees the head
    if lent and setting[COPIES]:
        # skb_orphan_frags() of the head, or of the member as its pages are reached
        lent = ZERO
        if get(counts, KEPT, ONE):
            counts += ONE << REF  # skb_unclone(): TCP's data stays as it is
        else:
            counts &= ~(ONE << HEAD_PAGES)
            counts &= ~(ONE << HEAD_ZCOPY)
        counts = _complete(counts, ZERO, setting)
    if lent and not setting[GATHER]:
        lent = ZERO  # skb_copy_bits(), of which the head's completion says nothing
        counts |= U(room != ZERO) << COPIED
    straddles = lent and setting[STRADDLES] and setting[COUNTS]
    if straddles and not setting[READABLE]:
        room = min(room, n - ONE)  # skb_zerocopy_clone() of the last one fails
    segments = ZERO
    for i in range(room):
        packet = QDISC if room == n else FREEING
        if straddles and i == n - ONE:  # no other CPU has the segment
            counts = (counts | ONE << COPIED) & ~(ONE << ZEROCOPY)
        elif lent:
            packet |= PAGES
            if setting[COUNTS]:  # skb_zerocopy_clone()
                packet |= ZCOPY
                counts += ONE << REF
            if setting[PARENT] and seen:
                packet |= HOLDS
                counts += ONE << USERS
            if setting[TRANSFERS] and seen and i == n - ONE:
                packet |= ZCOPY
                counts &= ~(ONE << HEAD_ZCOPY)
        segments |= packet << (EIGHT * i)
    if room < n:
        return counts | ONE << FAILED, segments
    counts |= ONE << SEGMENTED
    return _put_head(counts, setting), segments


@njit
def _free(counts, packet, last, direct, setting):
    """kfree_skb() or consume_skb(), or with `direct` __kfree_skb() alone."""
    if last:
        counts = _release_data(counts, packet, setting)
    if packet & HOLDS and not setting[BY_DATA] and not direct:
        counts = _put_head(counts, setting)
    return counts


@njit
def _unclone(counts, data, setting):
    """pskb_expand_head() of a clone: its copy of the shared info holds what the first one does."""
    if data & ZCOPY:
        counts += ONE << REF
    if data & HOLDS and setting[BY_DATA]:
        counts += ONE << USERS
    return counts


@njit
def _is_flagged(counts, packet, setting):
    """skb_zcopy(): whether a receive path sees that there are user pages."""
    if packet & AGAIN:
        return packet & PAGES and get(counts, HEAD_ZCOPY, ONE)
    return packet & PAGES and (packet & ZCOPY or (packet & HOLDS and setting[FLAGGED]))


@njit
def _copy_ubufs(counts, data, setting):
    """skb_copy_ubufs() of data that nothing else shares."""
    if data & ZCOPY:
        counts = _complete(counts, ZERO, setting)
    if data & HOLDS and setting[BY_DATA]:
        counts |= ONE << COPIED
        counts &= ~(ONE << ZEROCOPY)
        counts = _put_head(counts, setting)
    return counts


@njit
def _read(counts, data):
    """The device, or a reader, takes the bytes now."""
    if data & PAGES and get(counts, REWRITTEN, ONE):
        counts |= ONE << STALE
    return counts


@njit
def _write(following, steps, n, counts, segments, clone, step, who):
    following[n, 0], following[n, 1], following[n, 2] = counts, segments, clone
    steps[n] = step * EIGHT + who
    return n + ONE


@njit
def _leave(counts, segments, clone, i, arrived, direct, setting):
    """A segment is freed; what it shares goes on in the clone."""
    packet = get(segments, EIGHT * i, PACKET)
    shared = _shared(clone, i)
    counts = _free(counts, packet, not shared, direct, setting)
    if shared:
        clone |= PRIVATE | (packet & (PAGES | ZCOPY | HOLDS))
    left = GONE | packet & AGAIN | (arrived if setting[RETRANSMIT] else ZERO)
    segments &= ~(PACKET << (EIGHT * i))
    return counts, segments | left << (EIGHT * i), clone


@njit
def _deliver(counts, segments, clone, i, setting):
    """A receive path: skb_orphan_frags_rx(), and then a local queue, or none if that fails."""
    packet = get(segments, EIGHT * i, PACKET)
    kept = packet
    if setting[RX_ORPHAN] and _is_flagged(counts, packet, setting):
        if not setting[READABLE]:
            return _leave(counts, segments, clone, i, ZERO, False, setting)
        if packet & AGAIN:  # its data is TCP's
            counts = _complete(counts + (ONE << REF), ZERO, setting)
        elif _shared(clone, i):
            counts = _copy_ubufs(_unclone(counts, packet, setting), packet, setting)
            clone |= PRIVATE | (packet & (PAGES | ZCOPY | HOLDS))
        else:
            counts = _copy_ubufs(counts, packet, setting)
        kept &= ~(PAGES | ZCOPY | HOLDS)
    kept = (kept & ~PLACE) | QUEUE
    return counts, (segments & ~(PACKET << (EIGHT * i))) | kept << (EIGHT * i), clone


@njit
def _segment_again(counts, segments, clone, i, setting):
    """skb_segment() of a segment, into two, and its release: by what it carries of its own."""
    at = EIGHT * i
    packet = get(segments, at, PACKET)
    part = QDISC | packet & PAGES
    last = part
    if packet & ZCOPY and setting[COUNTS]:
        part, last = part | ZCOPY, last | ZCOPY
        counts += TWO << REF
    if packet & HOLDS and setting[FLAGGED]:
        part, last = part | HOLDS, last | HOLDS
        counts += TWO << USERS
    if packet & ZCOPY and setting[TRANSFERS]:
        last |= ZCOPY
        segments &= ~(ZCOPY << at)
    counts, segments, clone = _leave(counts, segments, clone, i, ZERO, False, setting)
    return counts, (segments & ~(PACKET << at)) | part << at | last << (EIGHT * PART), clone


@njit
def _has_arrived(segments, setting):
    """Whether TCP's receiver has all of it."""
    arrived = True
    for k in range(setting[SEGMENTS] + ONE):
        packet = get(segments, EIGHT * (k if k < setting[SEGMENTS] else PART), PACKET)
        arrived &= packet == ZERO or packet & ARRIVED != ZERO
    return arrived


@njit
def _leave_clone(counts, segments, clone, direct, setting):
    data = data_of(segments, clone)
    counts = _free(counts, data, clone & PRIVATE != ZERO, direct, setting)
    return counts, (clone & ~(PLACE | PRIVATE | PAGES | ZCOPY | HOLDS)) | GONE


@njit
def _before(following, steps, n, counts, segments, busy, setting):
    """Steps of a head that is not segmented yet, or of which that failed."""
    if not get(counts, USERS, NIBBLE) or (busy and get(counts, FAILED, ONE)):
        return n
    if get(counts, FAILED, ONE):  # kfree_skb_list(), and then the caller frees the head
        for i in range(setting[SEGMENTS]):
            if get(segments, EIGHT * i, PLACE) == FREEING:
                a, b, _ = _leave(counts, segments, ZERO, i, ZERO, False, setting)
                return _write(following, steps, n, a, b, ZERO, DROP, i)
    else:
        a, b = _segment(counts, setting[SEGMENTS], setting)
        n = _write(following, steps, n, a, b, ZERO, SEGMENT, THE_HEAD)
        for made in range(setting[SEGMENTS] if setting[FAILS] else ZERO):
            a, b = _segment(counts, made, setting)
            n = _write(following, steps, n, a, b, ZERO, FAIL, made)
    return _write(following, steps, n, _put_head(counts, setting), segments, ZERO, DROP, THE_HEAD)


@successors
def step(state, following, steps, setting):
    """Every step that can be taken; `STEPS` and `words` name them."""
    counts, segments, clone = state[0], state[1], state[2]
    n = ZERO
    busy = ZERO
    if setting[CPUS] == TWO:
        for cpu in range(TWO):
            at = CPU + FOUR * cpu
            inside = get(counts, at, NIBBLE)
            if inside & TWO_BITS == LOADED:
                value = (inside >> TWO) & (inside >> U(3)) & ONE
                if setting[ONCE]:  # io_tx_ubuf_complete(): WRITE_ONCE() of a copy, or nothing
                    value = get(counts, ZEROCOPY, ONE) & (inside >> U(3))
                after = (counts & ~(ONE << ZEROCOPY)) | value << ZEROCOPY
                after = (after & ~(NIBBLE << at)) | STORED << at
                n = _write(following, steps, n, after, segments, clone, STORE, cpu)
            elif inside & TWO_BITS == STORED:
                after = _put_ubuf(counts & ~(NIBBLE << at))
                n = _write(following, steps, n, after, segments, clone, PUT, cpu)
            if inside:
                busy += ONE
    if get(counts, TOLD, TWO_BITS) and not get(counts, REWRITTEN, ONE):
        after = counts | ONE << REWRITTEN
        n = _write(following, steps, n, after, segments, clone, REWRITE, U(6))
    if busy == setting[CPUS]:
        return n  # who completes is inside; what follows may complete too
    tail = get(counts, TAIL, TWO_BITS)
    if tail == WAITS:  # msg_zerocopy_realloc(), and `zerocopy = 0` for what the send copies
        after = (counts ^ ((WAITS ^ GREW) << TAIL) | ONE << COPIED) & ~(ONE << ZEROCOPY)
        n = _write(following, steps, n, after, segments, clone, JOIN, THE_SENDER)
    elif tail == GREW:
        after = _complete(counts & ~(GREW << TAIL), ONE, setting)
        n = _write(following, steps, n, after, segments, clone, LEAVE_TAIL, THE_SENDER)
    if not get(counts, SEGMENTED, ONE):
        return _before(following, steps, n, counts, segments, busy, setting)
    if get(counts, KEPT, ONE) and _has_arrived(segments, setting):
        after = counts & ~(ONE << KEPT)
        if not get(after, USERS, NIBBLE):
            after = _release_head_data(after, setting)
        n = _write(following, steps, n, after, segments, clone, ACK, THE_SENDER)
    for k in range(setting[SEGMENTS] + ONE):
        i = k if k < setting[SEGMENTS] else PART
        packet = get(segments, EIGHT * i, PACKET)
        place = packet & PLACE
        at = EIGHT * i
        if place == QDISC:
            a, b, c = _leave(counts, segments, clone, i, ZERO, False, setting)
            n = _write(following, steps, n, a, b, c, DROP, i)
            b = segments ^ ((QDISC ^ RING) << at)
            n = _write(following, steps, n, counts, b, clone, DEQUEUE, i)
            if setting[NESTED] and not get(segments, EIGHT * PART, PACKET) and not packet & AGAIN:
                a, b, c = _segment_again(counts, segments, clone, i, setting)
                n = _write(following, steps, n, a, b, c, SPLIT, i)
        elif place in (RING, QUEUE):
            sent = SENT if place == RING else READ
            a = _read(counts, packet)
            for past in range(ONE + setting[DIRECT]):
                b, c, d = _leave(a, segments, clone, i, ARRIVED, past, setting)
                n = _write(following, steps, n, b, c, d, sent + past, i)
            if place == RING and setting[LOCAL]:
                a, b, c = _deliver(counts, segments, clone, i, setting)
                n = _write(following, steps, n, a, b, c, DELIVER, i)
        elif place == GONE and get(counts, KEPT, ONE) and not packet & (ARRIVED | AGAIN):
            again = QDISC | AGAIN | (PAGES if get(counts, HEAD_PAGES, ONE) else ZERO)
            b = (segments & ~(PACKET << at)) | again << at
            n = _write(following, steps, n, counts, b, clone, RESEND, i)
        if not setting[CLONE] or clone & MADE or packet & AGAIN:
            continue
        if place in (QDISC, RING):
            a = counts
            if packet & HOLDS and setting[CLONE_GETS] and not setting[BY_DATA]:
                a += ONE << USERS
            made = MADE | i << OF
            n = _write(following, steps, n, a, segments, made | RING, FLOOD, i)
            c = made | TAP
            if setting[RX_ORPHAN] and _is_flagged(counts, packet, setting):
                if setting[READABLE]:
                    a = _copy_ubufs(_unclone(a, packet, setting), packet, setting)
                    c |= PRIVATE
                else:
                    a, c = _leave_clone(a, segments, c, False, setting)
            n = _write(following, steps, n, a, segments, c, TAPPED, i)
    place = clone & PLACE
    if place in (RING, TAP):
        sent = SENT if place == RING else READ
        data = data_of(segments, clone)
        a, c = _leave_clone(_read(counts, data), segments, clone, False, setting)
        n = _write(following, steps, n, a, segments, c, sent, THE_CLONE)
        if setting[DIRECT]:
            a, c = _leave_clone(_read(counts, data), segments, clone, True, setting)
            n = _write(following, steps, n, a, segments, c, sent + ONE, THE_CLONE)
        if place == RING and not clone & PRIVATE:
            a = _unclone(counts, data, setting)
            c = clone | PRIVATE | (data & (PAGES | ZCOPY | HOLDS))
            n = _write(following, steps, n, a, segments, c, UNCLONE, THE_CLONE)
    return n
