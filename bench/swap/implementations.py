"""The 6.12 allocator three times, each run on the same events: C, numba, plain Python."""

import ctypes
import sys
from pathlib import Path
from time import process_time

import numpy as np

from bench import compiled
from lorelab.swap import model
from lorelab.swap.clusters import ONE, U, outline
from lorelab.swap.params import Variant

sys.path.append(str(Path(__file__).parents[2] / "tests" / "swap"))
import oracle


def load_c() -> ctypes.CDLL:
    """Compile swap_6_12.c with gcc -O3 for this processor, as numba compiles for it."""
    library = compiled.load("swap/swap_6_12.c")
    library.swapon.restype = ctypes.c_void_p
    library.swapon.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_bool, ctypes.c_bool]
    library.swapoff.argtypes = [ctypes.c_void_p]
    library.run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    return library


def run_c(library: ctypes.CDLL, pages: int, cpus: int, events: np.ndarray):
    """Each `run_*` gives the offset of each event (0 for a free, or none) and the seconds taken."""
    offsets = np.zeros(len(events), np.uint32)
    si = library.swapon(pages, cpus, True, True)
    start = process_time()
    library.run(si, events.ctypes.data, len(events), offsets.ctypes.data)
    seconds = process_time() - start
    library.swapoff(si)
    return offsets, seconds


@outline
def _run(si, events, offsets):
    for i in range(len(events)):
        event = events[i]
        offsets[i] = 0
        if event >= 0:
            offsets[i] = model.folio_alloc_swap(si, U(event >> 4), U(event & 15))
        elif offsets[~event]:
            made = events[~event]
            if made & 15:
                model.swap_entry_range_free(si, U(offsets[~event]), ONE << U(made & 15))
            else:
                model.free_swap_slot(si, U(made >> 4), U(offsets[~event]))


def run_numba(pages: int, cpus: int, events: np.ndarray):
    offsets = np.zeros(len(events), np.uint32)
    si = model.swapon(pages, Variant.V6_12, cpus)
    start = process_time()
    _run(si, events, offsets)
    return offsets, process_time() - start


def run_python(pages: int, cpus: int, events: np.ndarray):
    offsets = [0] * len(events)
    events = events.tolist()
    si = oracle.Swap(pages, cpus)
    start = process_time()
    for i, event in enumerate(events):
        if event >= 0:
            offsets[i] = oracle.folio_alloc_swap(si, event >> 4, event & 15)
        elif offsets[~event]:
            made = events[~event]
            if made & 15:
                oracle.swap_entry_range_free(si, offsets[~event], 1 << (made & 15))
            else:
                oracle.free_swap_slot(si, made >> 4, offsets[~event])
    seconds = process_time() - start
    return np.array(offsets, np.uint32), seconds
