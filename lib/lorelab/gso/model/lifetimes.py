"""One zero-copy send from its segments to its end, in every order: states and steps.

    sender's pages <-- head --segment--> segments --> qdisc --> ring --> sent
         ^               |                   |          \\--> dropped
         |               v                   +--> clone    \\--> local queue --> read
     may rewrite <-- ubuf_info: count, told, "copied"

The sender may rewrite its pages once it has been told, and does so at any time from then on. A
packet that is sent or read after that, and still refers to those pages, carries the wrong bytes.
Which functions copy, hold and release what is the variant's (`lorelab.gso.params.TRAITS`); names
are those of net/core/skbuff.c, Linux 6.12.

A state has three words: what is counted, the segments (8 bits each) and the clone. Simplifications,
and what each changes:

- The head's data has no other sk_buff. TCP keeps one until the data is acknowledged: one holder
  more, which goes last.
- Segmentation is one step: no other CPU sees a segment before the head is released.
- At most one clone, of one segment. Two clones of one segment differ from one in the counts alone.
- Memory never runs out, so skb_copy_ubufs() does not fail.
- `rx_orphan` is one rule for all local queues: upstream's for sockets and tun, none for macvtap.
- With `cpus` 2, msg_zerocopy_complete() is taken apart into its load, its store and its decrement;
  everything else stays one step.
"""

from lorelab.checker import U, invariant, njit, successors

ZERO, ONE = U(0), U(1)

# What `setting` holds: the scope, what is looked for, the variant's traits.
SCOPE = ("segments", "clone", "local", "direct", "member", "rx_orphan", "gather", "once", "cpus")
SEGMENTS, CLONE, LOCAL, DIRECT, MEMBER, RX_ORPHAN, GATHER, ONCE, CPUS, WANTED = (
    U(n) for n in range(10)
)
TRAIT_NAMES = (
    "copies", "at_send", "counts", "transfers", "parent", "clone_gets", "by_data", "flagged",
    "members",
)  # fmt: skip
COPIES, AT_SEND, COUNTS, TRANSFERS, PARENT, CLONE_GETS, BY_DATA, FLAGGED, MEMBERS = (
    U(10 + n) for n in range(9)
)

# Word 0: shifts of its fields.
REF, TOLD, ZEROCOPY, COPIED, REWRITTEN, SEGMENTED = U(0), U(4), U(6), U(7), U(8), U(9)
USERS, HEAD_ZCOPY, HEAD_PAGES, CPU = U(10), U(14), U(15), U(16)
STALE, TWICE, FREED = U(24), U(25), U(26)  # seen: I1, I2, I9
NIBBLE, TWO_BITS = U(15), U(3)
# A CPU inside msg_zerocopy_complete(): bits 0-1 how far, 2 what it loaded, 3 its success.
LOADED, STORED = U(1), U(2)

# Words 1 and 2: of a packet.
PLACE, PAGES, ZCOPY, HOLDS = U(7), U(8), U(16), U(32)
NOWHERE, QDISC, RING, QUEUE, TAP, GONE = (U(n) for n in range(6))
PACKET = U(0xFF)
PRIVATE, MADE, OF = U(1 << 6), U(1 << 7), U(8)  # the clone: data of its own; made; of which segment

STEPS = (
    "segment", "drop", "dequeue", "sent", "sent_direct", "deliver", "read", "read_direct", "tap",
    "flood", "unclone", "rewrite", "store", "put",
)  # fmt: skip
(
    SEGMENT, DROP, DEQUEUE, SENT, SENT_DIRECT, DELIVER, READ, READ_DIRECT, TAPPED, FLOOD, UNCLONE,
    REWRITE, STORE, PUT,
) = (U(n) for n in range(14))  # fmt: skip
THE_CLONE, THE_HEAD = U(4), U(5)
EIGHT, TWO, FOUR = U(8), U(2), U(4)
MOST_FOLLOWING = 40

INVARIANTS = {
    1: "nothing is sent or read after the sender rewrote its pages",
    2: "the sender is told at most once",
    3: "once all packets are gone the sender has been told, once",
    4: "counts equal their holders",
    5: "the sender is told of a copy exactly if there was one",
    6: "once all packets are gone no page is referred to",
    7: "local queues hold none of the sender's pages",
    8: "what is charged to the sender is in some queue",
    9: "nothing is released that is gone",
}


@njit
def _get(word, shift, mask):
    return (word >> shift) & mask


@njit
def _put_ubuf(counts):
    """The decrement of msg_zerocopy_complete(), and what follows at zero."""
    if not _get(counts, REF, NIBBLE):
        return counts | ONE << FREED
    counts -= ONE << REF
    if not _get(counts, REF, NIBBLE):
        if _get(counts, TOLD, TWO_BITS):
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
    cpu = CPU if not _get(counts, CPU, TWO_BITS) else CPU + FOUR
    inside = LOADED | _get(counts, ZEROCOPY, ONE) << TWO | success << U(3)
    return counts | inside << cpu


@njit
def _put_head(counts, setting):
    """kfree_skb(head), and skb_release_data() of its data at zero."""
    if not _get(counts, USERS, NIBBLE):
        return counts | ONE << FREED
    counts -= ONE << USERS
    if not _get(counts, USERS, NIBBLE):
        counts &= ~(ONE << HEAD_PAGES)
        if _get(counts, HEAD_ZCOPY, ONE):
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
        and _get(clone, OF, U(7)) == segment
    )  # fmt: skip


@njit
def _data(segments, clone):
    """What the clone's data is: its own bits, or those of the segment that it shares with."""
    if clone & PRIVATE:
        return clone
    return _get(segments, EIGHT * _get(clone, OF, U(7)), PACKET)


@njit
def _segment(counts, setting):
    """skb_segment() and the release of the head; returns both words."""
    n = setting[SEGMENTS]
    seen = setting[MEMBERS] or not setting[MEMBER]
    if setting[COPIES] and _get(counts, HEAD_PAGES, ONE):
        # skb_orphan_frags() of the head, or of the member as its pages are reached
        counts &= ~(ONE << HEAD_PAGES)
        counts &= ~(ONE << HEAD_ZCOPY)
        counts = _complete(counts, ZERO, setting)
    lent = _get(counts, HEAD_PAGES, ONE)
    if lent and not setting[GATHER]:
        lent = ZERO  # skb_copy_bits(), of which the head's completion says nothing
        counts |= ONE << COPIED
    segments = ZERO
    for i in range(n):
        packet = QDISC
        if lent:
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
def _is_flagged(data, setting):
    """skb_zcopy(): whether a receive path sees that there are user pages."""
    return data & PAGES and (data & ZCOPY or (data & HOLDS and setting[FLAGGED]))


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
    if data & PAGES and _get(counts, REWRITTEN, ONE):
        counts |= ONE << STALE
    return counts


@njit
def _write(following, steps, n, counts, segments, clone, step, who):
    following[n, 0], following[n, 1], following[n, 2] = counts, segments, clone
    steps[n] = step * EIGHT + who
    return n + ONE


@njit
def _leave(counts, segments, clone, i, direct, setting):
    """A segment is freed; what it shares goes on in the clone."""
    packet = _get(segments, EIGHT * i, PACKET)
    shared = _shared(clone, i)
    counts = _free(counts, packet, not shared, direct, setting)
    if shared:
        clone |= PRIVATE | (packet & (PAGES | ZCOPY | HOLDS))
    segments &= ~(PACKET << (EIGHT * i))
    return counts, segments | GONE << (EIGHT * i), clone


@njit
def _leave_clone(counts, segments, clone, direct, setting):
    data = _data(segments, clone)
    counts = _free(counts, data, clone & PRIVATE != ZERO, direct, setting)
    return counts, (clone & ~(PLACE | PRIVATE | PAGES | ZCOPY | HOLDS)) | GONE


@successors
def step(state, following, steps, setting):
    """Every step that can be taken; `STEPS` and `words` name them."""
    counts, segments, clone = state[0], state[1], state[2]
    n = ZERO
    busy = ZERO
    if setting[CPUS] == TWO:
        for cpu in range(TWO):
            at = CPU + FOUR * cpu
            inside = _get(counts, at, NIBBLE)
            if inside & TWO_BITS == LOADED:
                value = (inside >> TWO) & (inside >> U(3)) & ONE
                if setting[ONCE]:  # io_tx_ubuf_complete(): WRITE_ONCE() of a copy, or nothing
                    value = _get(counts, ZEROCOPY, ONE) & (inside >> U(3))
                after = (counts & ~(ONE << ZEROCOPY)) | value << ZEROCOPY
                after = (after & ~(NIBBLE << at)) | STORED << at
                n = _write(following, steps, n, after, segments, clone, STORE, cpu)
            elif inside & TWO_BITS == STORED:
                after = _put_ubuf(counts & ~(NIBBLE << at))
                n = _write(following, steps, n, after, segments, clone, PUT, cpu)
            if inside:
                busy += ONE
    if _get(counts, TOLD, TWO_BITS) and not _get(counts, REWRITTEN, ONE):
        after = counts | ONE << REWRITTEN
        n = _write(following, steps, n, after, segments, clone, REWRITE, U(6))
    if busy == setting[CPUS]:
        return n  # who completes is inside; what follows may complete too
    if not _get(counts, SEGMENTED, ONE):
        if _get(counts, USERS, NIBBLE):
            after, made = _segment(counts, setting)
            n = _write(following, steps, n, after, made, clone, SEGMENT, THE_HEAD)
            after = _put_head(counts, setting)
            n = _write(following, steps, n, after, segments, clone, DROP, THE_HEAD)
        return n
    for i in range(setting[SEGMENTS]):
        packet = _get(segments, EIGHT * i, PACKET)
        place = packet & PLACE
        at = EIGHT * i
        if place == QDISC:
            a, b, c = _leave(counts, segments, clone, i, False, setting)
            n = _write(following, steps, n, a, b, c, DROP, i)
            b = segments ^ ((QDISC ^ RING) << at)
            n = _write(following, steps, n, counts, b, clone, DEQUEUE, i)
        elif place == RING:
            a, b, c = _leave(_read(counts, packet), segments, clone, i, False, setting)
            n = _write(following, steps, n, a, b, c, SENT, i)
            if setting[DIRECT]:
                a, b, c = _leave(_read(counts, packet), segments, clone, i, True, setting)
                n = _write(following, steps, n, a, b, c, SENT_DIRECT, i)
            if setting[LOCAL]:
                a, b, c = counts, packet, clone
                if setting[RX_ORPHAN] and _is_flagged(packet, setting):
                    if _shared(clone, i):
                        a = _unclone(a, packet, setting)
                        c |= PRIVATE | (packet & (PAGES | ZCOPY | HOLDS))
                    a = _copy_ubufs(a, packet, setting)
                    b &= ~(PAGES | ZCOPY | HOLDS)
                b = (b & ~PLACE) | QUEUE
                b = (segments & ~(PACKET << at)) | b << at
                n = _write(following, steps, n, a, b, c, DELIVER, i)
        elif place == QUEUE:
            a, b, c = _leave(_read(counts, packet), segments, clone, i, False, setting)
            n = _write(following, steps, n, a, b, c, READ, i)
            if setting[DIRECT]:
                a, b, c = _leave(_read(counts, packet), segments, clone, i, True, setting)
                n = _write(following, steps, n, a, b, c, READ_DIRECT, i)
        if setting[CLONE] and not clone & MADE and place in (QDISC, RING):
            a = counts
            if packet & HOLDS and setting[CLONE_GETS] and not setting[BY_DATA]:
                a += ONE << USERS
            made = MADE | i << OF
            n = _write(following, steps, n, a, segments, made | RING, FLOOD, i)
            c = made | TAP
            if setting[RX_ORPHAN] and _is_flagged(packet, setting):
                a = _copy_ubufs(_unclone(a, packet, setting), packet, setting)
                c |= PRIVATE
            n = _write(following, steps, n, a, segments, c, TAPPED, i)
    place = clone & PLACE
    if place in (RING, TAP):
        sent = SENT if place == RING else READ
        data = _data(segments, clone)
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


@njit
def _holders(counts, segments, clone, setting):
    """References of the ubuf_info and of the head that something holds."""
    refs = _get(counts, HEAD_ZCOPY, ONE)
    for cpu in range(TWO):
        refs += U(_get(counts, CPU + FOUR * cpu, TWO_BITS) != ZERO)
    users = ZERO if _get(counts, SEGMENTED, ONE) else _get(counts, USERS, NIBBLE)
    for i in range(setting[SEGMENTS]):
        packet = _get(segments, EIGHT * i, PACKET)
        refs += U(packet & ZCOPY != ZERO)
        users += U(packet & HOLDS != ZERO)
    refs += U(clone & ZCOPY != ZERO)
    if clone & PLACE == RING or clone & PLACE == TAP:
        if clone & PRIVATE:
            users += U(clone & HOLDS != ZERO)
        elif not setting[BY_DATA]:
            users += U(_data(segments, clone) & HOLDS != ZERO)
    return refs, users


@invariant
def broken(state, followed, setting):
    """The wanted invariant's number if the state breaks it; `INVARIANTS` says what each is."""
    counts, segments, clone = state[0], state[1], state[2]
    wanted = setting[WANTED]
    if wanted == U(1):
        return wanted * _get(counts, STALE, ONE)
    if wanted == U(2):
        return wanted * _get(counts, TWICE, ONE)
    if wanted == U(9):
        return wanted * _get(counts, FREED, ONE)
    inside = _get(counts, CPU, PACKET) != ZERO
    told = _get(counts, TOLD, TWO_BITS)
    if wanted == U(4):
        refs, users = _holders(counts, segments, clone, setting)
        wrong = refs != _get(counts, REF, NIBBLE) or users != _get(counts, USERS, NIBBLE)
        return wanted * U(wrong)
    if wanted == U(5):
        same = _get(counts, ZEROCOPY, ONE) == _get(counts, COPIED, ONE)
        return wanted * U(told != ZERO and not inside and same)
    alive = clone & PLACE == RING or clone & PLACE == TAP
    if wanted == U(7):
        kept = alive and clone & PLACE == TAP and _data(segments, clone) & PAGES != ZERO
        for i in range(setting[SEGMENTS]):
            packet = _get(segments, EIGHT * i, PACKET)
            kept |= packet & PLACE == QUEUE and packet & PAGES != ZERO
        return wanted * U(kept)
    segmented = _get(counts, SEGMENTED, ONE) != ZERO
    users = _get(counts, USERS, NIBBLE)
    if wanted == U(8):
        return wanted * U(segmented and users != ZERO)
    gone = not alive and not inside and (segmented or users == ZERO)
    for i in range(setting[SEGMENTS]):
        place = _get(segments, EIGHT * i, PLACE)
        gone &= place in (GONE, NOWHERE)
    if wanted == U(3):
        return wanted * U(gone and told != ONE)
    if wanted == U(6):
        return wanted * U(gone and _get(counts, HEAD_PAGES, ONE) != ZERO)
    return ZERO
