"""What holds in every state of `lorelab.gso.model.lifetimes`, or is broken."""

from lorelab.checker import U, invariant, njit
from lorelab.gso.model.lifetimes import (
    BY_DATA,
    COPIED,
    CPU,
    EIGHT,
    FOUR,
    FREED,
    GONE,
    HEAD_PAGES,
    HEAD_ZCOPY,
    HOLDS,
    KEPT,
    NIBBLE,
    NOWHERE,
    ONE,
    PACKET,
    PAGES,
    PART,
    PLACE,
    PRIVATE,
    QUEUE,
    REF,
    RING,
    SEGMENTED,
    SEGMENTS,
    STALE,
    TAIL,
    TAP,
    TOLD,
    TWICE,
    TWO,
    TWO_BITS,
    USERS,
    WANTED,
    ZCOPY,
    ZERO,
    ZEROCOPY,
    data_of,
    get,
)  # fmt: skip

INVARIANTS = {
    1: "nothing is sent or read after the sender rewrote its pages",
    2: "the sender is notified at most once",
    3: "once all packets are gone the sender has been notified, once",
    4: "counts equal their holders",
    5: "a copy is reported to the sender exactly if there was one",
    6: "once all packets are gone no page is referred to",
    7: "local queues hold none of the sender's pages",
    8: "what is charged to the sender is in some queue",
    9: "nothing is released that is gone",
}


@njit
def _holders(counts, segments, clone, setting):
    """References of the ubuf_info and of the head that something holds."""
    refs = get(counts, HEAD_ZCOPY, ONE) + U(get(counts, TAIL, TWO_BITS) != ZERO)
    for cpu in range(TWO):
        refs += U(get(counts, CPU + FOUR * cpu, TWO_BITS) != ZERO)
    alone = not get(counts, SEGMENTED, ONE) and get(counts, USERS, NIBBLE) != ZERO
    users = U(alone)
    for k in range(setting[SEGMENTS] + ONE):
        i = k if k < setting[SEGMENTS] else PART
        packet = get(segments, EIGHT * i, PACKET)
        refs += U(packet & ZCOPY != ZERO)
        users += U(packet & HOLDS != ZERO)
    refs += U(clone & ZCOPY != ZERO)
    if clone & PLACE == RING or clone & PLACE == TAP:
        if clone & PRIVATE:
            users += U(clone & HOLDS != ZERO)
        elif not setting[BY_DATA]:
            users += U(data_of(segments, clone) & HOLDS != ZERO)
    return refs, users


@invariant
def broken(state, followed, setting):
    """The wanted invariant's number if the state breaks it; `INVARIANTS` says what each is."""
    counts, segments, clone = state[0], state[1], state[2]
    wanted = setting[WANTED]
    if wanted == U(1):
        return wanted * get(counts, STALE, ONE)
    if wanted == U(2):
        return wanted * get(counts, TWICE, ONE)
    if wanted == U(9):
        return wanted * get(counts, FREED, ONE)
    inside = get(counts, CPU, PACKET) != ZERO
    told = get(counts, TOLD, TWO_BITS)
    if wanted == U(4):
        refs, users = _holders(counts, segments, clone, setting)
        wrong = refs != get(counts, REF, NIBBLE) or users != get(counts, USERS, NIBBLE)
        return wanted * U(wrong)
    if wanted == U(5):
        same = get(counts, ZEROCOPY, ONE) == get(counts, COPIED, ONE)
        return wanted * U(told != ZERO and not inside and same)
    alive = clone & PLACE == RING or clone & PLACE == TAP
    if wanted == U(7):
        kept = alive and clone & PLACE == TAP and data_of(segments, clone) & PAGES != ZERO
        for k in range(setting[SEGMENTS] + ONE):
            i = k if k < setting[SEGMENTS] else PART
            packet = get(segments, EIGHT * i, PACKET)
            kept |= packet & PLACE == QUEUE and packet & PAGES != ZERO
        return wanted * U(kept)
    segmented = get(counts, SEGMENTED, ONE) != ZERO
    users = get(counts, USERS, NIBBLE)
    if wanted == U(8):
        return wanted * U(segmented and users != ZERO)
    gone = not alive and not inside and (segmented or users == ZERO)
    gone &= not get(counts, KEPT, ONE) and not get(counts, TAIL, TWO_BITS)
    for k in range(setting[SEGMENTS] + ONE):
        i = k if k < setting[SEGMENTS] else PART
        place = get(segments, EIGHT * i, PLACE)
        gone &= place in (GONE, NOWHERE)
    if wanted == U(3):
        return wanted * U(gone and told != ONE)
    if wanted == U(6):
        return wanted * U(gone and get(counts, HEAD_PAGES, ONE) != ZERO)
    return ZERO
