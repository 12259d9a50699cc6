"""masim's configuration language: which regions a program has, and how it touches them by phase.

masim (https://github.com/sjp38/masim) is the memory access simulator that DAMON's own tests use.
A configuration is paragraphs; lines that begin with # are comments:

    #regions                          name, bytes, and optionally a file of initial data or "none"
    a, 100000000

    low phase                         a phase: its name,
    5000                              how many milliseconds it takes,
    a, 0, 4096, 50                    and its patterns: region, random (0 or 1), stride in bytes,
                                      weight, and optionally ro, wo or rw

In a phase masim draws a pattern by weight, makes 131,072 accesses with it (from 0 on in steps of
`stride` bytes, and from 0 anew where a step leaves the region; or random places), looks at the
clock, and so on: lib/kernel/damon/guest/masim.c, which the model repeats.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lorelab.damon.model.memory import ALWAYS, CHANGE, DRAW, PATTERN, PHASE
from lorelab.errors import BadInput
from lorelab.numerics import PAGE

MALLOC_HEADER = 16
# The process of lib/kernel/damon/guest/masim.c, as it is built on Debian 12 and says it itself:
# static, without address space randomisation. Regions are mapped below the vDSO.
PROGRAM = (0x40_0000, 0x53_0000)
VDSO = (0x7FFF_F7FF_9000, 0x7FFF_F7FF_F000)
VVAR = (0x7FFF_F7FF_9000, 0x7FFF_F7FF_D000)  # the part of it without pages of its own
STACK = (0x7FFF_FFFD_E000, 0x7FFF_FFFF_F000)
OWN = [
    (0x49_6000, 0x49_7000, ALWAYS),  # code
    (0x50_E000, 0x50_F000, ALWAYS),  # rseq: the kernel writes it with each switch to the process
    (0x51_0000, 0x51_1000, DRAW),  # patterns, of a program with no more than 30
    (0x7FFF_FFFF_E000, 0x7FFF_FFFF_F000, DRAW),  # stack
    (0x4C_8000, 0x50_8000, CHANGE),  # log
]
"""What its loop touches besides the regions (`lorelab.damon.model.memory`)."""


@dataclass(frozen=True)
class Access:
    """One line of a phase."""

    region: str
    random: bool
    stride: int
    weight: int


@dataclass(frozen=True)
class Phase:
    """A phase: `ms` milliseconds of its accesses."""

    name: str
    ms: int
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Config:
    """A masim configuration: bytes by region, and phases."""

    regions: dict[str, int]
    phases: tuple[Phase, ...]


def _phases(names: list[str], init_ms: int, ms: int, every: list[str]) -> list[str]:
    first = ["initial phase", str(init_ms), *(f"{name}, 0, 4096, 1" for name in every), ""]
    rest = [
        line for name in names for line in (f"phase {name}", str(ms), f"{name}, 0, 4096, 50", "")
    ]
    return first + rest


def _text(sizes: dict[str, int], order: list[str], init_ms: int, ms: int) -> str:
    regions = [f"{name}, {size}" for name, size in sizes.items()]
    return "\n".join([*regions, "", *_phases(order, init_ms, ms, list(sizes))])


ZIGZAG = {"a": 100_000_000, "b": 100_000_000}
STAIRS = {f"s{n}": 10_000_000 for n in range(10)}
BUILTIN = {
    "zigzag": _text(ZIGZAG, ["a", "b"] * 6, 10_000, 5_000),
    "zigzag-30secs": _text(ZIGZAG, ["a", "b"] * 6, 5_000, 2_500),
    "stairs": _text(STAIRS, list(STAIRS), 10_000, 5_000),
    "stairs-30secs": _text(STAIRS, list(STAIRS), 5_000, 2_500),
    "steady": "hot, 10000000\ncold, 190000000\n\ntouch\n1000\nhot, 0, 4096, 1\ncold, 0, 4096, 1\n\n"
    "steady\n29000\nhot, 0, 4096, 1\n",
    "random": "hot, 10000000\nwarm, 90000000\ncold, 100000000\n\ntouch\n1000\nhot, 0, 4096, 1\n"
    "warm, 0, 4096, 1\ncold, 0, 4096, 1\n\nrandom\n29000\nhot, 1, 64, 999\nwarm, 1, 64, 1\n",
    "turns": "a, 50000000\nb, 50000000\n\nboth\n1000\na, 0, 4096, 1\nb, 0, 4096, 1\n\n"
    "on a\n7500\na, 0, 4096, 1\n\non b\n7500\nb, 0, 4096, 1\n",
    "whole": "a, 100000000\n\nall of it\n4000\na, 0, 4096, 1\n",
    "sparse": "a, 200000000\n\none page in 64\n30000\na, 0, 262144, 1\n",
    "even": "a, 100000000\n\nat random\n12000\na, 1, 64, 1\n",
    "burst": "a, 100000000\nb, 100000000\n\n"
    + "".join(f"on {n}\n3\na, 0, 4096, 1\n\noff {n}\n97\nb, 0, 4096, 1\n\n" for n in range(300)),
} | {
    f"halves-{ms}ms": "a, 100000000\nb, 100000000\n\n"
    + "".join(
        f"{n} {name}\n{ms}\n{name}, 0, 4096, 1\n\n"
        for n in range(20_000 // max(ms, 40))
        for name in "ab"
    )
    for ms in (20, 100, 200, 400, 2000, 4000)
}
"""masim's own zigzag and stairs (its configs/), and patterns of ours."""


def parse(text: str, source: str) -> Config:
    """Read a configuration.

    Parameters
    ----------
    text : str
    source : str
        What to call it in a complaint.

    Raises
    ------
    BadInput
        Names the line that can't be, and what it takes.
    """
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if not line.startswith("#")
    ]
    paragraphs, current = [], []
    for number, line in [*lines, (0, "")]:
        if line:
            current.append((number, line))
        elif current:
            paragraphs.append(current)
            current = []
    if len(paragraphs) < 2:
        raise BadInput(f"{source}: takes a paragraph of regions and one of each phase")
    regions: dict[str, int] = {}
    for number, line in paragraphs[0]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) not in (2, 3) or not fields[0]:
            raise BadInput(f"{source}, line {number}: {line!r}: takes a region: name, bytes")
        if fields[0] in regions:
            raise BadInput(f"{source}, line {number}: region {fields[0]} is there twice")
        regions[fields[0]] = _number(fields[1], f"{source}, line {number}: bytes", 1, 2**46)
    return Config(regions, tuple(_phase(one, regions, source) for one in paragraphs[1:]))


def _number(text: str, where: str, least: int, most: int) -> int:
    digits = text.isascii() and text.isdigit() and len(text) <= 20
    if not digits or not least <= int(text) <= most:
        raise BadInput(f"{where}: {text[:40]!r}: takes a number from {least} to {most}")
    return int(text)


def _phase(lines: list[tuple[int, str]], regions: dict[str, int], source: str) -> Phase:
    if len(lines) < 3:
        raise BadInput(
            f"{source}, line {lines[0][0]}: {lines[0][1]!r}: takes a phase: its name, its "
            "milliseconds, its accesses, a line each"
        )
    ms = _number(lines[1][1], f"{source}, line {lines[1][0]}: milliseconds", 1, 10**9)
    accesses = []
    for number, line in lines[2:]:
        where = f"{source}, line {number}"
        fields = [field.strip() for field in line.split(",")]
        if len(fields) not in (4, 5):
            raise BadInput(f"{where}: {line!r}: takes region, random, stride, weight and mode")
        if fields[0] not in regions:
            raise BadInput(f"{where}: unknown region {fields[0]}: takes {', '.join(regions)}")
        if len(fields) == 5 and fields[4] not in ("ro", "wo", "rw"):
            raise BadInput(f"{where}: unknown mode {fields[4]}: takes ro, wo or rw")
        accesses.append(
            Access(
                fields[0],
                bool(_number(fields[1], f"{where}: random", 0, 1)),
                _number(fields[2], f"{where}: stride", 1, 2**46),
                _number(fields[3], f"{where}: weight", 0, 10**6),
            )
        )
    if not sum(access.weight for access in accesses):
        raise BadInput(f"{source}, line {lines[0][0]}: phase {lines[0][1]!r} has no weight above 0")
    return Phase(lines[0][1], ms, tuple(accesses))


def builtin(name: str) -> Config:
    """The configuration called `name`, or the one in the file of that name."""
    if name in BUILTIN:
        return parse(BUILTIN[name], name)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        raise BadInput(
            f"workload={name}: takes {', '.join(BUILTIN)}, or a masim file that can be read"
        ) from None
    return parse(text, name)


def scaled(config: Config, mib: int) -> Config:
    """The same configuration with all regions together of `mib` MiB, in the same proportions."""
    total = sum(config.regions.values())
    sizes = {name: max(size * (mib << 20) // total, 1) for name, size in config.regions.items()}
    return Config(sizes, config.phases)


def starts(config: Config) -> dict[str, int]:
    """Address of each region.

    malloc() maps each by itself, a page larger for its header, below the last one.
    """
    at, found = VDSO[0], {}
    for name, size in config.regions.items():
        at -= -(-(size + MALLOC_HEADER) // PAGE) * PAGE
        found[name] = at + MALLOC_HEADER
    return found


def program(config: Config) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int, int]]]:
    """Lay a configuration out as the process that runs it.

    The kernel merges the mappings of its regions with each other.

    Returns
    -------
    patterns : (n,) PATTERN array
    phases : (n,) PHASE array
    vmas : list of (target, start, end)
    """
    at = starts(config)
    lowest = min(at.values()) - MALLOC_HEADER
    accesses = [access for phase in config.phases for access in phase.accesses]
    patterns = np.zeros(len(accesses), PATTERN)
    phases = np.zeros(len(config.phases), PHASE)
    k = 0
    for row, phase in zip(phases, config.phases, strict=True):
        row["begin"], row["end"] = k, k + len(phase.accesses)
        row["time_ns"] = phase.ms * 1_000_000
        weight = 0
        for access in phase.accesses:
            one = patterns[k]
            one["start"], one["sz"] = at[access.region], config.regions[access.region]
            one["stride"], one["random"] = access.stride, access.random
            one["prob_start"], one["probability"] = weight, access.weight
            weight += access.weight
            k += 1
        row["total_probability"] = weight
    return patterns, phases, [(0, *PROGRAM), (0, lowest, VDSO[1]), (0, *STACK)]


def seconds(config: Config) -> float:
    """How long the phases of a configuration take together."""
    return sum(phase.ms for phase in config.phases) / 1000
