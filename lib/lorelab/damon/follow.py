"""Region for region: the model given the kernel's own random numbers and access checks.

A probe logs what each call of damon_rand() returned and what each check found, in order
(lib/kernel/guest/damon_log.py). Everything else that kdamond does follows from those, the
process' mappings and the attributes; so the model, with the same numbers, must report the same
regions with the same counts and ages, window after window.

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
outcome is there. `followed()` holds the sampled addresses of a whole log against the model's.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon import kernel, model, views
from lorelab.damon.pages import PATTERN, PHASE, new_pages
from lorelab.damon.params import Masim
from lorelab.damon.setting import configuration
from lorelab.damon.state import SNAPSHOT
from lorelab.errors import BadInput
from lorelab.lab.records import Record, load

NAME = "damon/follow"
PAGE = 4096


class Given(NamedTuple):
    """What the model is given, and what the kernel made of it."""

    mappings: list[tuple[int, int]]
    numbers: np.ndarray  # u8: results of damon_rand(), less their lower end
    checks: np.ndarray  # u1
    windows: list[np.ndarray]  # SNAPSHOT rows, a window each
    last_nr_regions: int  # as monitoring began


class Followed(NamedTuple):
    """How far the model and the kernel are the same."""

    windows: pd.DataFrame
    """A row a window: nr_regions, merges, splits (so far), equal."""
    checks: int
    """Checks that went into it."""


def measured(
    wanted: list[Masim], image: Path | None = None
) -> list[tuple[Record, kernel.Run, Given]]:
    """Watch programs with every random number and check logged, all in one boot.

    An instruction takes 32 ns, for speed: what is compared does not depend on time.
    """
    for params in wanted:
        kernel.check(params)
    configs = [configuration(params) for params in wanted]
    nothing = [[] for _ in wanted]
    runs, source = kernel.boot(wanted, configs, nothing, "numbers", image, shift=5)
    found, last = [], 0
    for number, (params, run) in enumerate(zip(wanted, runs, strict=True), 1):
        given = of(run, last)
        provenance = source.provenance(NAME, params.model_dump(mode="json"), number)
        found.append((Record(pack(params, run, last), provenance), run, given))
        last = left(params, given)
    return found


def measure(wanted: list[Masim], image: Path | None = None) -> list[Record]:
    """Records of `measured()` alone."""
    return [record for record, _, _ in measured(wanted, image)]


def left(params: Masim, given: Given) -> int:
    """What a run leaves in last_nr_regions: its regions when kdamond_split_regions() last split."""
    split = [len(rows) for rows in given.windows if len(rows) <= params.max_regions // 2]
    return split[-1] if split else given.last_nr_regions


def recorded(params: Masim) -> Record | None:
    """The newest record of exactly these parameters."""
    return load(NAME, params)


def followed(params: Masim, given: Given) -> Followed:
    """Run the model on what the kernel was given, and compare the regions of each window.

    Raises
    ------
    ValueError
        The model asks for more numbers or checks than there are.
    """
    ctx, pages = begin(params, given)
    rows = []
    for kernels in given.windows:
        n = -1
        while n < 0:
            n = _sample(ctx, pages)
        equal = n == len(kernels) and bool((ctx.trace[:n] == kernels).all())
        rows.append((n, int(ctx.info["merges"][0]), int(ctx.info["splits"][0]), equal))
    starved = int(ctx.info["starved"][0]) + int(pages.info["starved"][0])
    if starved:
        raise ValueError(f"the model asked for {starved} numbers or checks more than were logged")
    found = pd.DataFrame(rows, columns=["nr_regions", "merges", "splits", "equal"])
    return Followed(found, len(given.checks))


def sampled(params: Masim, run: kernel.Run, given: Given) -> tuple[int, int]:
    """Hold every region and address sampled, of a whole log, against the model's.

    Returns
    -------
    samples, equal : int
        Samples, and those of them in which all regions and addresses are the same.
    """
    ctx, pages = begin(params, given)
    drawn = run.log[(run.log["kind"] == kernel.RAND) & (run.log["x"] != 1)]
    at = samples = equal = windows = 0
    while windows < len(given.windows):
        model.kdamond_prepare(ctx, pages)
        mine = regions(ctx)
        kernels = drawn[at : at + len(mine)]
        at += len(mine)
        samples += 1
        equal += bool(
            len(kernels) == len(mine)
            and (mine["start"] == kernels["x"]).all()
            and (mine["end"] == kernels["y"]).all()
            and (mine["sampling_addr"] == kernels["x"] + kernels["n"]).all()
        )
        ctx.info["now"] += ctx.info["sample_interval"]
        windows += model.kdamond_check(ctx, pages) >= 0
    return samples, equal


def begin(params: Masim, given: Given, schemes=None, mapped=(), goals=None):
    """Model and memory as monitoring begins; `mapped` as new_pages() takes mappings."""
    ctx = model.damon_new_ctx(
        [(0, *mapping) for mapping in given.mappings],
        **kernel.attributes(params),
        numbers=given.numbers,
        static=np.array([given.last_nr_regions], np.uint64),
        schemes=schemes,
        goals=goals,
    )
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), mapped, recorded=given.checks)
    model.kdamond_start(ctx, pages)
    return ctx, pages


def _sample(ctx, pages) -> int:
    # The checks are given, so no program has to run in between.
    model.kdamond_prepare(ctx, pages)
    ctx.info["now"] += ctx.info["sample_interval"]
    return model.kdamond_check(ctx, pages)


def regions(ctx) -> np.ndarray:
    """The regions of the only target, as REGION rows in order."""
    head = len(ctx.regions) - 1
    found, i = [], int(ctx.regions[head]["next"])
    while i != head:
        found.append(i)
        i = int(ctx.regions[i]["next"])
    return ctx.regions[found]


def of(run: kernel.Run, last_nr_regions: int = 0) -> Given:
    """What a whole log gives the model, up to its last complete window."""
    kind = run.log["kind"]
    said = kernel.windows(run)
    # A window's splits follow its report at once; the next sample begins with the first region.
    end = np.flatnonzero(kind == kernel.AGGREGATED)[-1] + 1
    while end < len(kind) and kind[end] == kernel.RAND and run.log["x"][end] == 1:
        end += 1
    log = run.log[:end]
    numbers = log["n"][log["kind"] == kernel.RAND].astype(np.uint64)
    checks = log["n"][log["kind"] == kernel.CHECK].astype(np.uint8)
    mappings = [(int(low), int(high)) for low, high in run.mappings]
    return Given(mappings, numbers, checks, [rows for _, _, rows in said], last_nr_regions)


def pack(params: Masim, run: kernel.Run, last_nr_regions: int = 0) -> pd.DataFrame:
    """A log as a record."""
    given = of(run)
    rows = [(0, 0, last_nr_regions, "", "", spans(given.mappings)), *_accessed(params, run)]
    begun = int(run.truth[0, 0]) // 1000
    kind, log = run.log["kind"], run.log
    reports = np.flatnonzero(kind == kernel.AGGREGATED)
    begins = reports[np.append(True, np.diff(log["x"][reports].astype(np.int64)) < 0)]
    at = 0
    for number, (begin, window) in enumerate(zip(begins, given.windows, strict=True), 1):
        part = log[at:begin]
        checks = part["n"][part["kind"] == kernel.CHECK].astype(np.uint8)
        at = begin + len(window)
        splits = ""
        while at < len(log) and kind[at] == kernel.RAND and log["x"][at] == 1:
            splits += str(log["n"][at])
            at += 1
        first = np.flatnonzero(part["kind"] == kernel.CHECK)[0]
        sampled = int(np.argmax(part["kind"][first:] != kernel.CHECK)) or len(part) - int(first)
        us = (int(log["us"][begin]) - begun + 2**31) % 2**32 - 2**31
        bits = np.packbits(checks).tobytes().hex()
        rows.append((number, us, sampled, bits, splits, _packed(window)))
    return pd.DataFrame(rows, columns=["window", "us", "sampled", "checks", "splits", "regions"])


def unpack(table: pd.DataFrame, params: Masim) -> Given:
    """What a record gives the model; the pages that were sampled are each region's first."""
    first = table.iloc[0]
    samples = params.aggr_us // params.sample_us
    numbers, checks, windows = [], [], []
    for row in table[table["window"] > 0].astype(str).itertuples():
        nr = int(row.sampled) * samples
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(row.checks), np.uint8))
        checks.append(bits[:nr])
        numbers.append(np.zeros(nr, np.uint64))
        numbers.append(np.array([int(digit) for digit in row.splits], np.uint64))
        windows.append(_unpacked(row.regions))
    last, mappings = int(first["sampled"]), unspanned(first["regions"])
    return Given(mappings, np.concatenate(numbers), np.concatenate(checks), windows, last)


def accesses(table: pd.DataFrame) -> pd.DataFrame:
    """What the program of a record accessed: `begin`, `end` (s), `low` and `high` (addresses)."""
    rows = table[table["window"] == 0].iloc[1:]
    begin = rows["us"].to_numpy() / 1e6
    spans = [unspanned(text)[0] for text in rows["regions"].iloc[:-1]]
    low, high = np.array(spans, np.uint64).T
    return pd.DataFrame({"begin": begin[:-1], "end": begin[1:], "low": low, "high": high})


def took(table: pd.DataFrame) -> tuple[float, float, float]:
    """What an access and a check (ns), and a sleep (us), took in a record.

    Raises
    ------
    BadInput
        The record is older than that.
    """
    said = str(table[table["window"] == 0]["checks"].iloc[-1]).split()
    if not said:
        raise BadInput("the recorded run does not say what things took; measure again")
    access, check, sleep = map(float, said)
    return access, check, sleep


def reports(table: pd.DataFrame) -> pd.DataFrame:
    """What DAMON said in a record: `begin`, `end`, `low`, `high`, and `nr_accesses`."""
    rows = table[table["window"] > 0]
    ends = rows["us"].to_numpy() / 1e6
    windows = [_unpacked(text) for text in rows["regions"]]
    nr = [len(window) for window in windows]
    said = np.concatenate(windows)
    return pd.DataFrame(
        {
            "begin": np.repeat(np.append(2 * ends[0] - ends[1], ends[:-1]), nr),
            "end": np.repeat(ends, nr),
            "low": said["start"],
            "high": said["end"],
            "nr_accesses": said["nr_accesses"],
        }
    )


def heats(params: Masim, table: pd.DataFrame, shape: tuple[int, int] = (40, 40)) -> pd.DataFrame:
    """Rates of access of a record, in truth and as the kernel reports them.

    A rate in truth is the share of the time in which the program was at it.

    Returns
    -------
    DataFrame
        As `lorelab.damon.views.heats()`, `what` being truth or kernel.
    """
    truth, said = accesses(table), reports(table)
    samples = params.aggr_us // params.sample_us
    base, top = int(truth["low"].min()), int(truth["high"].max())
    times = np.linspace(0, truth["end"].iloc[-1], shape[0] + 1)
    edges = np.linspace(0, (top - base) / 2**20, shape[1] + 1)
    parts = []
    for what, rows, rate in (
        ("truth", truth, np.ones(len(truth))),
        ("kernel", said, np.minimum(said["nr_accesses"] / samples, 1)),
    ):
        low, high = (
            (rows[name].to_numpy().astype(np.int64) - base) / 2**20 for name in ("low", "high")
        )
        when = _overlap(rows["begin"].to_numpy(), rows["end"].to_numpy(), times)
        where = _overlap(low, high, edges)
        found = (when * np.asarray(rate)[:, None]).T @ where
        found /= (times[1] - times[0]) * (edges[1] - edges[0])
        parts.append(views.runs(np.round(found, 1)).assign(what=what))
    cells = pd.concat(parts, ignore_index=True)
    for name in ("time", "until"):
        cells[name] *= times[1]
    for name in ("address", "top"):
        cells[name] *= edges[1]
    return cells.round(4)


def _overlap(begin: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    # (n, cells): how much of each cell an interval covers.
    shared = np.minimum(end[:, None], edges[1:]) - np.maximum(begin[:, None], edges[:-1])
    return np.maximum(shared, 0)


def spans(pairs) -> str:
    """Ranges of addresses as text; `unspanned()` reads it."""
    return " ".join(f"{int(low):x}-{int(high):x}" for low, high in pairs)


def unspanned(text: str) -> list[tuple[int, int]]:
    """The ranges that `spans()` wrote."""
    pairs = (word.split("-") for word in text.split())
    return [(int(low, 16), int(high, 16)) for low, high in pairs]


def _accessed(params: Masim, run: kernel.Run) -> list[tuple]:
    config = configuration(params)
    names = list(config.regions)
    of_pattern = [names.index(a.region) for phase in config.phases for a in phase.accesses]
    begun = int(run.truth[0, 0])
    rows = []
    for at, pattern in run.truth.tolist():
        low, size = run.regions[of_pattern[pattern]].tolist()
        rows.append((0, (at - begun) // 1000, 0, "", "", spans([(low, low + size)])))
    took = " ".join(f"{value:.1f}" for value in kernel.took(run, _checks(run)))
    return [*rows, (0, (run.ended - begun) // 1000, 0, took, "", "")]


def _checks(run: kernel.Run) -> int:
    # While the program played; the log's microseconds wrap.
    log, ended = run.log[run.log["kind"] == kernel.CHECK], run.ended // 1000
    before = (ended - log["us"].astype(np.int64)) % 2**32
    return int((before <= (run.ended - int(run.truth[0, 0])) // 1000).sum())


def _packed(window: np.ndarray) -> str:
    words, end = [], None
    for row in window:
        start = int(row["start"])
        if start != end:
            words.append(f"@{start // PAGE:x}")
        end = int(row["end"])
        words.append(f"{(end - start) // PAGE}.{row['nr_accesses']}.{row['age']}")
    return " ".join(words)


def _unpacked(text: str) -> np.ndarray:
    rows, at = [], 0
    for word in text.split():
        if word.startswith("@"):
            at = int(word[1:], 16) * PAGE
            continue
        pages, count, age = map(int, word.split("."))
        rows.append((0, at, at + pages * PAGE, count, age))
        at += pages * PAGE
    return np.array(rows, SNAPSHOT)
