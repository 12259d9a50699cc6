"""Page frames and the LRU lists they are on (struct page, struct lruvec).

        free frames of a zone      a chain through `next`
        lists of a zone            inactive  head <-> page <-> ... <-> page   the tail is reclaimed
                                   active    head <-> page <-> ... <-> page   the tail is demoted

Lists are the kernel's circular doubly linked lists; heads lie behind the frames. With one LRU a
node, as from 4.8 on, all frames are on the lists of list 0.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ONE, TWO, ZERO, U, forceinline, njit

INACTIVE, ACTIVE = ZERO, ONE

PG_ACTIVE = np.uint8(1)
PG_REFERENCED = np.uint8(2)
PG_DIRTY = np.uint8(4)
PG_RECLAIM = np.uint8(8)
PG_PRIVATE = np.uint8(16)
"""The page has a buffer head."""
KEEP_ALL = np.uint8(0xFF)


class Frames(NamedTuple):
    """Every frame of the node, and the lists."""

    prev: np.ndarray  # (frames + heads,) u4
    next: np.ndarray  # (frames + heads,) u4; also the chain of free frames
    index: np.ndarray  # (frames,) u4: page of the file that is in the frame
    flags: np.ndarray  # (frames,) u1: PG_*
    start: np.ndarray  # (zones + 1,) u8: first frame of each zone, and the end
    free_head: np.ndarray  # (zones,) u8: first free frame; the number of frames ends the chain
    nr: np.ndarray  # (lists, 2) u8: pages on the inactive and the active list
    inactive_age: np.ndarray  # (lists,) u8: evictions and activations (mm/workingset.c)


@njit
def make(managed, node_lru) -> Frames:
    """All frames free, in order; `managed` is pages of each zone, of which none is empty."""
    zones = len(managed)
    lists = 1 if node_lru else zones
    start = np.zeros(zones + 1, np.uint64)
    for z in range(zones):
        start[z + 1] = start[z] + U(managed[z])
    frames = np.int64(start[zones])
    prev = np.zeros(frames + 2 * lists, np.uint32)
    following = np.zeros(frames + 2 * lists, np.uint32)
    for frame in range(frames):
        following[frame] = frame + 1
    for z in range(zones):
        following[start[z + 1] - ONE] = frames
    for head in range(frames, frames + 2 * lists):
        prev[head] = following[head] = head
    return Frames(
        prev,
        following,
        np.zeros(frames, np.uint32),
        np.zeros(frames, np.uint8),
        start,
        start[:-1].copy(),
        np.zeros((lists, 2), np.uint64),
        np.zeros(lists, np.uint64),
    )


@forceinline
def zone_of(frames, frame):
    """The zone that a frame lies in: page_zone()."""
    z = ZERO
    while frame >= frames.start[z + ONE]:
        z += ONE
    return z


@forceinline
def list_of(frames, z):
    """The pair of lists of a zone."""
    return z if U(len(frames.nr)) > ONE else ZERO


@forceinline
def head_of(frames, lru, which):
    return U(len(frames.flags)) + TWO * lru + which


@forceinline
def lru_del(frames, frame, lru, which):
    before, after = frames.prev[frame], frames.next[frame]
    frames.next[before] = after
    frames.prev[after] = before
    frames.nr[lru, which] -= ONE


@forceinline
def lru_add(frames, frame, lru, which):
    """Put a page behind the head: the end that is reclaimed last."""
    head = head_of(frames, lru, which)
    after = frames.next[head]
    frames.prev[frame] = head
    frames.next[frame] = after
    frames.prev[after] = frame
    frames.next[head] = frame
    frames.nr[lru, which] += ONE


@forceinline
def lru_add_tail(frames, frame, lru, which):
    head = head_of(frames, lru, which)
    before = frames.prev[head]
    frames.next[frame] = head
    frames.prev[frame] = before
    frames.next[before] = frame
    frames.prev[head] = frame
    frames.nr[lru, which] += ONE


@forceinline
def take_frame(frames, z):
    """First free frame of the zone; there is one, as `free` of the zone counts them."""
    frame = frames.free_head[z]
    frames.free_head[z] = frames.next[frame]
    return frame


@forceinline
def give_frame(frames, frame, z):
    frames.next[frame] = frames.free_head[z]
    frames.free_head[z] = frame
    frames.flags[frame] = 0
