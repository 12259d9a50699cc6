"""What a state of `lifetimes` is, packet by packet: numbers, and the words for them.

A table, a chart and a page that searches in the browser all show a state by these.
"""

from lorelab.checker import U
from lorelab.gso.model.lifetimes import (
    CLONE,
    EIGHT,
    GONE,
    NIBBLE,
    NOWHERE,
    PACKET,
    PAGES,
    PLACE,
    REF,
    REWRITTEN,
    SEGMENTED,
    SEGMENTS,
    TOLD,
    TWO_BITS,
    USERS,
    data_of,
    get,
)
from lorelab.numerics import njit

THINGS = (
    "sender", "ubuf_info", "head", "segment 1", "segment 2", "segment 3", "segment 4", "clone",
)  # fmt: skip
"""What `cells` has a number of: the sender's is of `SENDER`, those of the next two count references
and users, and the others' are four times a number of `PLACES`, and one of `BYTES`."""
SENDER = ("waits", "told", "writes again")
PLACES = ("-", "qdisc", "ring", "local queue", "tap", "gone", "being freed", "in the head")
"""Where a packet is: `NOWHERE` to `FREEING`, and not yet segmented."""
BYTES = ("in the head", "lent pages", "a copy", "wrong bytes")
"""What the bytes of a packet are."""
ABSENT = 255
"""Of a packet that there is none of."""
HEAD = U(PLACES.index("in the head"))
LENT, COPY, WRONG = (U(BYTES.index(name)) for name in ("lent pages", "a copy", "wrong bytes"))
FOUR_OF = U(2)
"""Bits that a place is above what the bytes are."""


@njit
def cells(state, setting, row):
    """A number for each of `THINGS`.

    Parameters
    ----------
    state : (3,) uint64 array
    setting : uint64 array
        The setting of the search.
    row : (8,) uint64 array
        They are written here.
    """
    counts, segments, clone = state[0], state[1], state[2]
    written = get(counts, REWRITTEN, U(1))
    row[0] = U(2) if written else U(get(counts, TOLD, TWO_BITS) != U(0))
    row[1], row[2] = get(counts, REF, NIBBLE), get(counts, USERS, NIBBLE)
    row[3:7] = U(ABSENT)
    for n in range(setting[SEGMENTS]):
        packet = get(segments, EIGHT * U(n), PACKET)
        segmented = get(counts, SEGMENTED, U(1))
        row[U(3) + n] = _cell(packet, written) if segmented else HEAD << FOUR_OF
    row[7] = (
        U(ABSENT)
        if not setting[CLONE]
        else _cell((clone & PLACE) | (data_of(segments, clone) & PAGES), written)
    )


@njit
def _cell(packet, written):
    """Where a packet is, and below that what its bytes are."""
    place = packet & PLACE
    if place in (GONE, NOWHERE):
        return place << FOUR_OF
    if not packet & PAGES:
        return place << FOUR_OF | COPY
    return place << FOUR_OF | (WRONG if written else LENT)


def state_of(thing: str, number: int) -> tuple[str, str]:
    """What a number of `cells` says of a thing, and in words what is written there.

    Examples
    --------
    >>> state_of("sender", 1), state_of("head", 3)
    (('told', 'told'), ('a count', '3'))
    >>> state_of("segment 1", 4 * PLACES.index("ring") + BYTES.index("a copy"))
    ('a copy', 'a copy')
    """
    if thing in ("ubuf_info", "head"):
        return "a count", str(number)
    if thing == "sender":
        state = SENDER[number]
    else:
        place, what = PLACES[number // 4], BYTES[number % 4]
        state = "gone" if place in ("gone", "-") else what
    return state, state
