"""The allocator's walk three times: the model, the same in C, the tests' oracle in plain Python.

CPUs allocate in turn; a slow path fills each zone up to its high watermark.
"""

import ctypes

import numpy as np

from bench.compiled import load
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.page_alloc import (
    NOT,
    alloc_fast,
    enter_slowpath,
    get_page_from_freelist,
)
from lorelab.fairzone.model.zones import NONE
from lorelab.fairzone.params import TRAITS, Reset, Variant
from lorelab.numerics import U, outline
from tests.fairzone.oracle_zones import COUNTED, Zones

MIB, CPUS, MIN_FREE_KIB = 7973, 4, 67584


def start(variant: Variant) -> zones.Node:
    """The machine of June 2014, all free."""
    return zones.make(zones.managed_pages(MIB, True), variant, CPUS, MIN_FREE_KIB)


@outline
def _walk(node, allocations, taken):
    cpus = U(node.percpu.shape[1])
    classzone = U(node.info[0].classzone)
    for n in range(allocations):
        z = alloc_fast(node, n % cpus, NOT)
        if z == NONE:
            enter_slowpath(node, n % cpus)
            z = get_page_from_freelist(node, n % cpus, NOT, NOT, NOT)
            for each in range(U(len(node.zone))):
                zone = node.zone[each]
                high = zone.high + node.lowmem_reserve[each, classzone]
                zone.free = min(high, zone.managed)
        taken[n] = z


def counted(node: zones.Node) -> dict[str, int]:
    """Counters by name."""
    return dict(zip(zones.COUNTS, node.count.tolist(), strict=True))


def model(variant: Variant, allocations: int) -> tuple[np.ndarray, dict[str, int]]:
    """The model: the zone of each allocation, and what was counted."""
    node, taken = start(variant), np.zeros(allocations, np.uint8)
    _walk(node, U(allocations), taken)
    return taken, counted(node)


class Struct(ctypes.Structure):
    """struct node of walk.c."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in zones.Node._fields),
        ("zones", ctypes.c_uint64),
        ("cpus", ctypes.c_uint64),
    ]


def c(variant: Variant, allocations: int) -> tuple[np.ndarray, dict[str, int]]:
    """The same in C."""
    node, taken = start(variant), np.zeros(allocations, np.uint8)
    same = Struct(*(part.ctypes.data for part in node), len(node.zone), CPUS)
    at = ctypes.c_void_p(taken.ctypes.data)
    load("fairzone/walk.c").walk(ctypes.byref(same), ctypes.c_uint64(allocations), at)
    return taken, counted(node)


def python(variant: Variant, allocations: int) -> tuple[np.ndarray, dict[str, int]]:
    """The same by the oracle of the tests."""
    told = Zones(variant, zones.managed_pages(MIB, True), [], CPUS, False, MIN_FREE_KIB, 20)
    taken = np.zeros(allocations, np.uint8)
    for n in range(allocations):
        zone = told.fair(n % CPUS, False)
        if zone is None:
            told.count["slowpaths"] += 1
            if TRAITS[variant].reset == Reset.SLOWPATH:
                told.reset(n % CPUS)
            zone = told.plain(n % CPUS, False, False)
            for each in told.zones:
                each.free = min(each.high + told.kept(each), each.managed)
        taken[n] = zone.idx
    return taken, {name: told.count[name] for name in COUNTED}
