"""A reader's /proc/zoneinfo, of any kernel since 3.12: its zones for the model.

        Node 0, zone    DMA32
          pages free     ...
                min / low / high ...
                managed  ...
                protection: (0, 0, 3912, 3912)

`protection` is the zone's lowmem_reserve by class. Zones without managed pages are left out, and
named in `Dump.empty`. A copy may be indented, or quoted as mail is; a zone that can't be read is
refused, never left out.
"""

import re
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lorelab import user_text
from lorelab.errors import BadInput
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.zones import Node
from lorelab.fairzone.params import Variant

LARGEST = 64 * 2**20
"""Bytes of a file that is read: thousands of nodes."""
KNOWN = ("DMA", "DMA32", "Normal", "HighMem", "Movable", "Device")
TAKES = "give a copy of /proc/zoneinfo"
QUOTED = re.compile(r"^[\s>|]+")
NAMED = re.compile(r"Node\s+\d+,\s+zone\b")
HEAD = re.compile(r"Node\s+(\d+),\s+zone\s+(\S+)\s*$")
FIELD = re.compile(r"(pages free|min|low|high|managed)\s+(\d+)\s*")
LEFT = re.compile(
    r"(?:protection: \(|pagesets$|cpu: \d|vm stats threshold: |"
    r"(?:\w+_unreclaimable|start_pfn|inactive_ratio|reserved_highatomic|free_highatomic): +\d)"
)
"""What any zone ends with: of the one that a cut began in, a line of these is left."""
PER_NODE, PER_ZONE = "per-node stats", "nr_zone_"
"""Both since 4.8: the one below the first zone of a node, the other below each."""
WANTED = ("min", "low", "high", "managed")
MOST_PAGES = 1 << 40
"""Of any number in the file."""
MOST_FRAMES = 1 << 26
"""Pages of memory that are simulated: 256 GiB."""


class Zone(NamedTuple):
    """One zone of the file, in pages."""

    node: int
    name: str
    managed: int
    free: int
    min: int
    low: int
    high: int
    protection: tuple[int, ...]


class Dump(NamedTuple):
    """What a file has, and which kernel wrote it."""

    nodes: list[list[Zone]]
    empty: list[tuple[int, str]]
    """Node and name of each zone without managed pages."""
    node_lru: bool | None
    """True: 4.8 or later, by its stats per node; False: before, by its batches; None: unknown."""


def read(path: Path) -> list[Zone]:
    """Zones of the first node with pages in two zones or more, else of the first, lowest first.

    The policy spreads over the zones of one node.

    Raises
    ------
    BadInput
        The file can't be read, is no zoneinfo, or is cut.
    """
    nodes = read_nodes(path)
    return next((found for found in nodes if len(found) > 1), nodes[0])


def read_nodes(path: Path) -> list[list[Zone]]:
    """Zones of each node, lowest first.

    Raises
    ------
    BadInput
        The file can't be read, is no zoneinfo, or is cut.
    """
    return dump(path).nodes


def dump(path: Path) -> Dump:
    """All that the file has.

    Raises
    ------
    BadInput
        The file can't be read, is no zoneinfo, or is cut.
    """
    nodes: dict[int, list[Zone]] = {}
    text = user_text.read(path, TAKES, LARGEST)
    found, empty = _parse(text, str(path))
    for zone in found:
        nodes.setdefault(zone.node, []).append(zone)
    for number, found in nodes.items():
        names = [zone.name for zone in found]
        if len(set(names)) < len(names):
            raise BadInput(f"{path}: node {number} has a zone twice; {TAKES} of one moment")
        if not columns(found):
            raise BadInput(
                f"{path}: node {number} has zones and protections that no kernel has together"
            )
        listed = {*names, *(name for node, name in empty if node == number)}
        if _lacks(found, listed):
            raise BadInput(
                f"{path}: node {number} keeps pages for a zone that the file has not; it is cut"
            )
    since = True if "per-node stats" in text else False if "nr_alloc_batch" in text else None
    return Dump(list(nodes.values()), empty, since)


def parse(text: str, name: str) -> list[Zone]:
    """All zones with managed pages, in the order of the file."""
    return _parse(text, name)[0]


def _parse(text: str, name: str) -> tuple[list[Zone], list[tuple[int, str]]]:
    blocks: list[list[str]] = [[]]
    for number, quoted in enumerate(text.replace("\u00a0", " ").split("\n"), 1):
        line = QUOTED.sub("", quoted)
        if NAMED.match(line):
            blocks.append([])
        elif NAMED.search(line):
            raise BadInput(f"{name}, line {number}: more than the kernel writes before a zone")
        blocks[-1].append(line)
    if len(blocks) > 1 and any(FIELD.fullmatch(line) or LEFT.match(line) for line in blocks[0]):
        raise BadInput(f"{name}: begins in the middle of a zone; copy the whole file")
    if number := _beheaded(blocks[1:]):
        raise BadInput(f"{name}: node {number} lacks its first zone; copy the whole file")
    every = [_zone(block, name) for block in blocks[1:]]
    found = [zone for zone in every if zone.managed]
    if not found:
        raise BadInput(f"{name}: no zone with managed pages; {TAKES}")
    return found, [(zone.node, zone.name) for zone in every if not zone.managed]


def _beheaded(blocks: list[list[str]]) -> str:
    """A node whose zones have their own stats, and none of them the node's; empty without one."""
    texts: dict[str, str] = {}
    for block in blocks:
        node = block[0].split()[1].rstrip(",")
        texts[node] = texts.get(node, "") + "\n".join(block)
    cut = (node for node, text in texts.items() if PER_ZONE in text and PER_NODE not in text)
    return next(cut, "")


def _zone(lines: list[str], name: str) -> Zone:
    head = HEAD.match(lines[0])
    if head is None:
        raise BadInput(f"{name}: {lines[0][:60]!r} names no zone that Linux has")
    where = f"{name}: node {head[1]}, zone {head[2]}"
    values: dict[str, int] = {}
    for line in lines[1:]:
        if line.split()[:1] == ["pagesets"]:
            break
        if plain := FIELD.fullmatch(line):
            values.setdefault(plain[1], int(plain[2]))
    if values.get("managed") == 0:
        return Zone(int(head[1]), head[2], 0, 0, 0, 0, 0, ())
    if head[2] not in KNOWN:
        raise BadInput(f"{name}: {lines[0][:60]!r} names no zone that Linux has")
    if lacking := [field for field in ("pages free", *WANTED) if field not in values]:
        raise BadInput(
            f"{where}: no line for {', '.join(lacking)}; the file is cut, or from a "
            "kernel before 3.12"
        )
    protection = re.search(r"protection:\s*\(([\d, ]+)\)", "\n".join(lines))
    if protection is None:
        raise BadInput(f"{where}: no line for protection; the file is cut")
    kept = tuple(int(word) for word in protection[1].split(",") if word.strip())
    if max(*values.values(), *kept) > MOST_PAGES:
        raise BadInput(f"{where}: a number beyond {MOST_PAGES} pages")
    if not values["min"] <= values["low"] <= values["high"]:
        raise BadInput(f"{where}: takes min <= low <= high")
    marks = (values[field] for field in ("min", "low", "high"))
    return Zone(int(head[1]), head[2], values["managed"], values["pages free"], *marks, kept)


def columns(node_zones: list[Zone]) -> tuple[str, ...]:
    """Names of the columns of `protection`: the zone types that the kernel was built with.

    The file does not name them, so they are those with which a zone keeps nothing from itself and
    from lower ones, and something from each higher one; () if the zones can't be of one kernel.
    """
    return (_fitting(node_zones) or _built(node_zones) or [()])[0]


def _built(node_zones: list[Zone]) -> list[tuple[str, ...]]:
    """Zone types of a kernel that has as many as `protection` has columns, these among them."""
    names = [zone.name for zone in node_zones]
    widths = {len(zone.protection) for zone in node_zones}
    return [
        types
        for width in widths
        for types in combinations(KNOWN, width)
        if len(widths) == 1 and [name for name in types if name in names] == names
    ]


def _fitting(node_zones: list[Zone]) -> list[tuple[str, ...]]:
    names = [zone.name for zone in node_zones]
    return [
        types
        for types in _built(node_zones)
        if all(_keeps(zone, types, names) for zone in node_zones)
    ]


def _lacks(node_zones: list[Zone], listed: set[str]) -> bool:
    """Whether a zone keeps more from a higher one than from the one below it, and that is not here.

    Its pages are what the higher one adds (setup_per_zone_lowmem_reserve).
    """

    def lacks(types: tuple[str, ...]) -> bool:
        return any(
            zone.protection[n] > zone.protection[n - 1] and types[n] not in listed
            for zone in node_zones
            for n in range(types.index(zone.name) + 1, len(types))
        )

    fitting = _fitting(node_zones)
    return bool(fitting) and all(map(lacks, fitting))


def _keeps(zone: Zone, types: tuple[str, ...], names: list[str]) -> bool:
    own = types.index(zone.name)
    higher = names[names.index(zone.name) + 1 :]
    none = not any(zone.protection[: own + 1])
    return none and all(zone.protection[types.index(name)] for name in higher)


def reserves(node_zones: list[Zone]) -> np.ndarray:
    """`protection` among the zones of the file: (zones, zones) i8, as `zones.lowmem_reserves`."""
    table = np.zeros((len(node_zones), len(node_zones)), np.int64)
    types = columns(node_zones)
    for low, zone in enumerate(node_zones):
        for klass in range(low + 1, len(node_zones)):
            table[low, klass] = zone.protection[types.index(node_zones[klass].name)]
    return table


def make(
    node_zones: list[Zone],
    variant: Variant,
    cpus: int = 4,
    exact: bool = False,
    dirty_ratio: int = 20,
) -> Node:
    """The zones of the file for the model, all free.

    Raises
    ------
    BadInput
        No page of them may be allocated.
    """
    managed = [zone.managed for zone in node_zones]
    marks, kept = [(zone.min, zone.low, zone.high) for zone in node_zones], reserves(node_zones)
    if not zones.serves(managed, marks, kept):
        raise BadInput(
            "the zones of the file keep all of their pages: takes one with managed > min + "
            "protection, or a kernel kills one process after another (OOM)"
        )
    return zones.make(
        managed,
        variant,
        cpus,
        exact=exact,
        marks=marks,
        reserves=kept,
        dirty_ratio=dirty_ratio,
    )
