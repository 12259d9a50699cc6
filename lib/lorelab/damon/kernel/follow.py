"""The records of `damon/follow`: every random number and access check of a kernel, by window.

A probe logs what each call of damon_rand() returned and what each check found, in order
(lib/kernel/damon/guest/log.py).

A record is a table with a row a window. Before those come rows of window 0: the mappings, with
what the run before in the same boot left in last_nr_regions as `sampled`; and the ranges that the
program accessed, each from `us` on, nothing when it was done. There `checks` has what an access of
the program and a check (ns) and a sleep (us) of kdamond took, with the log's own time.

    window    number, from 1
    us        when it ended, from the program's begin
    sampled   regions that were sampled in it
    checks    hexadecimal bits, a check each: by sample, then by address
    splits    what damon_rand(1, 10) returned at its end, less 1
    regions   what damon:damon_aggregated said: pages.count.age of each, @page after a gap

Which page of a region was sampled is left out: it decides about nothing but the check, whose
outcome is there. `lorelab.damon.agree.follow.sampled()` holds the sampled addresses of a whole log
against the model's.

7.3 draws from a generator of its own (lib/kernel/damon/guest/traced.py), so its state as monitoring
begins stands for all numbers. It is there with the mappings, as hexadecimal `checks` of four words,
and the static variable rotation as `splits`. In a window `splits` is the CRC-32 of the addresses
that were sampled in it, in order, 8 bytes each, little-endian: every one is held against the model.
"""

import zlib
from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon.kernel import boot
from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.params import Masim
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput, RunFailed
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.numerics import PAGE
from lorelab.params import label

NAME = "damon/follow"


class Inputs(NamedTuple):
    """What the model is given, and what the kernel made of it."""

    mappings: list[tuple[int, int]]
    numbers: np.ndarray  # u8: results of damon_rand(), less their lower end
    checks: np.ndarray  # u1
    windows: list[np.ndarray]  # SNAPSHOT rows, a window each
    last_nr_regions: int  # as monitoring began
    rotation: int = 0  # likewise; 7.3's
    rnd_state: np.ndarray | None = None  # (4,) u4: 7.3's generator, likewise
    drawn: list[int] = []  # noqa: RUF012  7.3: a window each, CRC-32 of the addresses sampled


class Row(NamedTuple):
    """A row of a record; what its columns have is said above."""

    window: int
    us: int
    sampled: int = 0
    checks: str = ""
    splits: str = ""
    regions: str = ""


def _machine(params: Masim) -> bool:
    return params.variant.traits.own_random


def _request(batch: list[Masim]) -> Request:
    """Programs with every random number and check logged, all in one boot.

    An instruction takes 32 ns, for speed: what is compared does not depend on time.
    """
    requests = [boot.RunRequest(params, configuration(params)) for params in batch]
    log = "traced" if _machine(batch[0]) else "numbers"
    return boot.request(requests, log, shift=5)


def _counters(params: Masim, measured: Measured, run: int) -> pd.DataFrame:
    [played] = boot.logged([params], measured, run)
    return pack(params, played, left_before(measured, run))


def possible(params: Masim, options: RunOptions) -> None:
    """Raise BadInput for what the kernel at hand can't follow, or for no program."""
    configuration(params)
    if params.variant.traits.release == "6.12":
        boot.check(params)
        return
    if not options.image:
        raise BadInput(
            f"variant={label(params.variant)}: the laboratory's kernel is a 6.12; takes --kernel "
            "with a 7.3 of your own, as Debian's linux-binary and linux-modules unpack"
        )
    if turned := boot.switches(params):
        raise BadInput(
            f"{', '.join(turned)}: only the laboratory's kernel has such switches; takes "
            f"tlb={boot.QEMU_TLB} and rand64=false"
        )


def left_before(measured: Measured, run: int) -> int:
    """last_nr_regions as a run of a boot begins: what those before it left there."""
    last = 0
    for number, one in enumerate(measured.request.job.params["runs"][:run]):
        last = left(one["attrs"]["max_regions"], of(boot.read(measured.rows, number), last))
    return last


def left(max_regions: int, inputs: Inputs) -> int:
    """What a run leaves in last_nr_regions: its regions when kdamond_split_regions() last split."""
    split = [len(rows) for rows in inputs.windows if len(rows) <= max_regions // 2]
    return split[-1] if split else inputs.last_nr_regions


def of(run: boot.Run, last_nr_regions: int = 0) -> Inputs:
    """What a whole log gives the model, up to its last complete window."""
    kind = run.log["kind"]
    # A window's splits follow its report at once; the next sample begins with the first region.
    end = np.flatnonzero(kind == boot.AGGREGATED)[-1] + 1
    while end < len(kind) and kind[end] == boot.RAND and run.log["x"][end] == 1:
        end += 1
    log = run.log[:end]
    numbers = log["n"][log["kind"] == boot.RAND].astype(np.uint64)
    checks = log["n"][log["kind"] == boot.CHECK].astype(np.uint8)
    mappings = [(int(low), int(high)) for low, high in run.program.mappings]
    windows = [window.regions for window in boot.windows(run)]
    if not run.began:
        return Inputs(mappings, numbers, checks, windows, last_nr_regions)
    drawn = [crc(part["x"][part["kind"] == boot.CHECK]) for part in boot.by_window(run.log)]
    state = np.array(run.began["state"], np.uint32)
    last, rotation = run.began["last_nr_regions"], run.began["rotation"]
    return Inputs(mappings, numbers, checks, windows, last, rotation, state, drawn)


def crc(addresses: np.ndarray, before: int = 0) -> int:
    """CRC-32 of addresses that were sampled, behind that of those `before`."""
    return zlib.crc32(addresses.astype("<u8").tobytes(), before)


def pack(params: Masim, run: boot.Run, last_nr_regions: int = 0) -> pd.DataFrame:
    """A log as a record."""
    inputs = of(run, last_nr_regions)
    first = Row(0, 0, inputs.last_nr_regions, regions=spans(inputs.mappings))
    if run.began:
        words = "".join(f"{word:08x}" for word in inputs.rnd_state.tolist())
        first = first._replace(checks=words, splits=str(inputs.rotation))
    rows = [first, *_accessed(params, run)]
    begun = run.program.begun // 1000
    kind, log = run.log["kind"], run.log
    at = 0
    reports = zip(boot.reports(log), inputs.windows, strict=True)
    for number, (begin, window) in enumerate(reports, 1):
        part = log[at:begin]
        checks = part["n"][part["kind"] == boot.CHECK].astype(np.uint8)
        at = begin + len(window)
        splits = ""
        while at < len(log) and kind[at] == boot.RAND and log["x"][at] == 1:
            splits += str(log["n"][at])
            at += 1
        if run.began:
            sampled, rest = divmod(len(checks), params.samples)
            if rest:
                raise RunFailed(
                    f"window {number}: {len(checks)} checks in {params.samples} samples"
                )
            splits = f"{inputs.drawn[number - 1]:#010x}"  # never read as a number
        else:
            first = np.flatnonzero(part["kind"] == boot.CHECK)[0]
            sampled = int(np.argmax(part["kind"][first:] != boot.CHECK)) or len(part) - int(first)
        us = (int(log["us"][begin]) - begun + 2**31) % 2**32 - 2**31
        bits = np.packbits(checks).tobytes().hex()
        rows.append(Row(number, us, sampled, bits, splits, _packed(window)))
    return pd.DataFrame(rows, columns=Row._fields)


def unpack(table: pd.DataFrame, params: Masim) -> Inputs:
    """What a record gives the model; the pages that were sampled are each region's first."""
    first = table.iloc[0]
    numbers, checks, windows, drawn = [], [], [], []
    for row in table[table["window"] > 0].astype(str).itertuples():
        nr = int(row.sampled) * params.samples
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(row.checks), np.uint8))
        checks.append(bits[:nr])
        if params.variant.traits.own_random:
            drawn.append(int(row.splits, 16))
        else:
            numbers.append(np.zeros(nr, np.uint64))
            numbers.append(np.array([int(digit) for digit in row.splits], np.uint64))
        windows.append(unpacked(row.regions))
    last, mappings = int(first["sampled"]), unspanned(first["regions"])
    bits = np.concatenate(checks)
    if not params.variant.traits.own_random:
        return Inputs(mappings, np.concatenate(numbers), bits, windows, last)
    words = str(first["checks"])
    state = np.array([int(words[at : at + 8], 16) for at in range(0, 32, 8)], np.uint32)
    none = np.zeros(0, np.uint64)
    return Inputs(mappings, none, bits, windows, last, int(first["splits"]), state, drawn)


def spans(pairs) -> str:
    """Ranges of addresses as text; `unspanned()` reads it."""
    return " ".join(f"{int(low):x}-{int(high):x}" for low, high in pairs)


def unspanned(text: str) -> list[tuple[int, int]]:
    """The ranges that `spans()` wrote."""
    pairs = (word.split("-") for word in text.split())
    return [(int(low, 16), int(high, 16)) for low, high in pairs]


def _accessed(params: Masim, run: boot.Run) -> list[Row]:
    config = configuration(params)
    names = list(config.regions)
    of_pattern = [names.index(a.region) for phase in config.phases for a in phase.accesses]
    program, rows = run.program, []
    for at, pattern in program.truth.tolist():
        low, size = program.regions[of_pattern[pattern]].tolist()
        rows.append(Row(0, (at - program.begun) // 1000, regions=spans([(low, low + size)])))
    speeds = boot.speeds_of(run, _checks(run))
    took = f"{speeds.access_ns:.1f} {speeds.check_ns:.1f} {speeds.sleep_us:.1f}"
    return [*rows, Row(0, (program.ended - program.begun) // 1000, checks=took)]


def _checks(run: boot.Run) -> int:
    # While the program played; the log's microseconds wrap.
    log, ended = run.log[run.log["kind"] == boot.CHECK], run.program.ended
    before = (ended // 1000 - log["us"].astype(np.int64)) % 2**32
    return int((before <= (ended - run.program.begun) // 1000).sum())


def _packed(window: np.ndarray) -> str:
    words, end = [], None
    for row in window:
        start = int(row["start"])
        if start != end:
            words.append(f"@{start // PAGE:x}")
        end = int(row["end"])
        words.append(f"{(end - start) // PAGE}.{row['nr_accesses']}.{row['age']}")
    return " ".join(words)


def unpacked(text: str) -> np.ndarray:
    rows, at = [], 0
    for word in text.split():
        if word.startswith("@"):
            at = int(word[1:], 16) * PAGE
            continue
        pages, count, age = map(int, word.split("."))
        rows.append((0, at, at + pages * PAGE, count, age))
        at += pages * PAGE
    return np.array(rows, SNAPSHOT)


measure = Measurement(NAME, _request, _counters, machine=_machine, check=possible)
