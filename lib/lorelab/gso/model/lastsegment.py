"""The ubuf_info with the last segment: how often that is not the last one to go.

If every order in which k segments can be freed is as likely as any other, the one that has the
ubuf_info goes last in one of k: P(told too early) = 1 - 1/k.
"""

from lorelab.numerics import GOLDEN, ONE, njit, splitmix64


@njit
def draw(segments, packets, seed, places):
    """Free `packets` packets in random orders.

    Parameters
    ----------
    segments, packets, seed : uint64
    places : (segments,) uint64
        Gains, by how many segments went before the last one, the packets of which that is so.
    """
    order = places.copy()
    state = seed
    for _ in range(packets):
        for n in range(segments):
            order[n] = n
        for n in range(segments - ONE):
            # Fisher and Yates; the bias of the remainder is below 2**-57.
            state += GOLDEN
            other = n + splitmix64(state) % (segments - n)
            order[n], order[other] = order[other], order[n]
        for n in range(segments):
            if order[n] == segments - ONE:
                places[n] += ONE
