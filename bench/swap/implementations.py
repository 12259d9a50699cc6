"""The 6.12 allocator three times, each run on the same events: C, numba, plain Python."""

import ctypes
from time import process_time

import numpy as np

from bench import compiled
from lorelab.numerics import ONE, ZERO, U, outline
from lorelab.swap.model import swap_slots
from lorelab.swap.model.state import swapon
from lorelab.swap.params import Variant
from tests.swap.model import oracle


def load_c() -> ctypes.CDLL:
    """Compile swap_6_12.c with gcc -O3 for this processor, as numba compiles for it."""
    library = compiled.load("swap/swap_6_12.c")
    library.swapon.restype = ctypes.c_void_p
    library.swapon.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_bool, ctypes.c_bool]
    library.swapoff.argtypes = [ctypes.c_void_p]
    library.run.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
    ]
    return library


def run_c(library: ctypes.CDLL, pages: int, cpus: int, events: np.ndarray):
    """Each `run_*` gives the offset of each allocation, 0 for none, and the seconds taken."""
    offsets = np.zeros((events >= 0).sum(), np.uint32)
    si = library.swapon(pages, cpus, True, True)
    start = process_time()
    library.run(si, events.ctypes.data, len(events), offsets.ctypes.data)
    seconds = process_time() - start
    library.swapoff(si)
    return offsets, seconds


@outline
def _run(si, events, offsets):
    n = ZERO
    for event in events:
        if event >= 0:
            offsets[n] = swap_slots.folio_alloc_swap(si, U(event >> 4), U(event & 15))
            n += ONE
            continue
        made = U(~event)
        order, offset = made & U(15), U(offsets[made >> U(14)])
        if offset and order:
            swap_slots.swap_entry_range_free(si, offset, ONE << order)
        elif offset:
            swap_slots.free_swap_slot(si, made >> U(4) & U(1023), offset)


def run_numba(pages: int, cpus: int, events: np.ndarray):
    offsets = np.zeros((events >= 0).sum(), np.uint32)
    si = swapon(pages, Variant.V6_12, cpus)
    start = process_time()
    _run(si, events, offsets)
    return offsets, process_time() - start


def run_python(pages: int, cpus: int, events: np.ndarray):
    offsets = []
    events = events.tolist()
    si = oracle.Swap(pages, cpus)
    start = process_time()
    for event in events:
        if event >= 0:
            offsets.append(oracle.folio_alloc_swap(si, event >> 4, event & 15))
            continue
        made = ~event
        order, offset = made & 15, offsets[made >> 14]
        if offset and order:
            oracle.swap_entry_range_free(si, offset, 1 << order)
        elif offset:
            oracle.free_swap_slot(si, made >> 4 & 1023, offset)
    seconds = process_time() - start
    return np.array(offsets, np.uint32), seconds
