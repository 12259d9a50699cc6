"""The DAMON experiments on a real kernel: 6.12 in a guest, with a program that says what it does.

The guest's clock is its instruction count (QEMU's -icount), so a run does not depend on how fast
or how busy the host is. An instruction takes 32 ns, which makes a slow CPU of the guest, for an
emulator needs far longer than a nanosecond for one; a record says what an access and a check took.
Where cost is measured an instruction takes 1 ns, and kdamond's time is its instructions. There is
one CPU, where schemes are applied a second one. A 7.3 of Debian's is followed by tracefs
(lib/kernel/damon/guest/traced.py).

`tlb=0` turns the series' switch that flushes a TLB entry with its accessed bit; any other `tlb`
leaves the kernel as it is, in front of QEMU's own TLB: 256 entries and a victim cache of 8 until
something flushes it, later as many as were in use (accel/tcg/cputlb.c).
"""

import base64
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lorelab.damon.model.memory import BATCH
from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.params import Masim, Monitoring, Speeds, Variant, WithSchemes
from lorelab.damon.workload import masim, setup
from lorelab.damon.workload.truth import Observation, Window, spans
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Request, switched
from lorelab.params import label

EVENT = np.dtype(
    [(name, "<u8") for name in ("x", "y", "checks")]
    + [(name, "<u4") for name in ("n", "age", "kind", "us")]
)
"""An entry of the guest's log (lib/kernel/damon/guest/log.py)."""
FREE, RAND, CHECK, AGGREGATED, TRIED = 0, 1, 2, 3, 4
QEMU_TLB = 264
"""`tlb` of what nothing flushes: QEMU's entries and victims, which the model gets."""
LARGEST_MIB = 1024
"""What the program may touch, in a guest of 2 GiB."""
BOOT_SECONDS = 300.0
"""For the guest's compiler, which builds the probe at an emulator's pace on a busy host."""
ALONE = ("damon_stat.enabled=N", "transparent_hugepage=madvise")
"""For a kernel of Debian's, which has otherwise a kdamond of its own from boot on (DAMON_STAT), and
huge pages where nobody asked for them; the laboratory's has neither."""
SLOWER = 60.0
"""Seconds that a second of the guest may take; some 2 on an idle machine, at 8 ns."""


class RunRequest(NamedTuple):
    """A run that the guest is asked for."""

    params: Monitoring
    config: masim.Config
    schemes: Sequence[dict[str, Any]] = ()
    """As lib/kernel/damon/guest/sysfs.py takes them."""


class Program(NamedTuple):
    """What the program of a run said of itself."""

    regions: np.ndarray  # (n, 2) u8: address and bytes of each of its regions
    own: np.ndarray  # (n, 2) u8: address and bytes of what it touches besides
    mappings: np.ndarray  # (n, 2) u8: start and end of each of its mappings
    bare: np.ndarray  # (n, 2) u8: mappings without pages of their own
    truth: np.ndarray  # (n, 2) u8: ns from which each access pattern was in use, and its number
    ended: int  # ns when it was done
    draws: int  # of a pattern, each for BATCH accesses

    @property
    def begun(self) -> int:
        """When it began, in ns."""
        return int(self.truth[0, 0])


class Kdamond(NamedTuple):
    """What kdamond did in a run."""

    watched: int  # ns when monitoring began
    work_ns: int  # its time on the CPU while the program ran
    sleeps: int  # how often it went to sleep meanwhile: once a sample
    applying_ns: int  # of work_ns: in the actions of schemes


class Run(NamedTuple):
    """What one run in the guest came to."""

    program: Program
    kdamond: Kdamond
    log: np.ndarray  # EVENT
    schemes: list[dict[str, int]]  # statistics of each
    memory: dict[str, float] | None = None  # of the process, where schemes were applied
    watermarks: list[list[int]] | None = None  # a scheme each: high, mid, low, us between looks
    began: dict[str, Any] | None = None  # 7.3's generator and static variables as it began


def check(params: Monitoring) -> None:
    """Raise BadInput for what the laboratory's kernel can't follow."""
    if not params.variant.traits.kernel:
        followed = [label(variant) for variant in Variant if variant.traits.kernel]
        raise BadInput(
            f"variant={label(params.variant)}: the kernel runs {' and '.join(followed)}; "
            "the model has them all"
        )


def check_program(params: Masim) -> None:
    """Raise BadInput for what the laboratory's kernel can't follow, or for a program too large."""
    check(params)
    if sum(spans(params).regions.values()) >> 20 > LARGEST_MIB:
        raise BadInput(f"workload={params.workload}: takes {LARGEST_MIB} MiB at most on the kernel")


def watched(each: list[Masim]) -> Request:
    """A boot that plays programs, each from beginning to end, and logs regions."""
    return request([RunRequest(params, spans(params)) for params in each], "regions", shift=5)


def observation(run: Run) -> Observation:
    """What the program of a run said, and DAMON of it."""
    return Observation(run.program.regions, run.program.truth, run.program.ended, windows(run))


def windows(run: Run) -> list[Window]:
    """The windows of a run, as its log has them."""
    aggregated = run.log[run.log["kind"] == AGGREGATED]
    if not len(aggregated):
        return []
    first = _anew(aggregated)
    ended, before = [], 0
    for a, b in zip(first, np.append(first[1:], len(aggregated)), strict=True):
        rows = np.zeros(b - a, SNAPSHOT)
        rows["start"], rows["end"] = aggregated["x"][a:b], aggregated["y"][a:b]
        rows["nr_accesses"], rows["age"] = aggregated["n"][a:b], aggregated["age"][a:b]
        checks = int(aggregated["checks"][a])
        ended.append(Window(_ns(int(aggregated["us"][a]), run), checks - before, rows))
        before = checks
    return ended


def reports(log: np.ndarray) -> np.ndarray:
    """Where in a log each report begins."""
    at = np.flatnonzero(log["kind"] == AGGREGATED)
    return at[_anew(log[at])]


def by_window(log: np.ndarray) -> list[np.ndarray]:
    """The log of each window, up to its report."""
    begins = reports(log)
    return [log[at:begin] for at, begin in zip([0, *begins], begins, strict=False)]


def _anew(rows: np.ndarray) -> np.ndarray:
    # Addresses start anew with each report.
    return np.flatnonzero(np.append(True, rows["x"][1:] <= rows["x"][:-1]))


def played(run: Run) -> list[Window]:
    """Windows that ended while the program played."""
    program = run.program
    return [one for one in windows(run) if program.begun < one.end_ns <= program.ended]


def checks_a_sample(params: Monitoring, run: Run) -> float:
    """Checks of a sample, a mean over the windows that ended while the program played."""
    checks = [window.checks for window in played(run)]
    return sum(checks) / len(checks) / params.samples


def speeds(params: Masim, run: Run) -> Speeds:
    """What an access of the program and a check of kdamond took, and a sleep of kdamond.

    The program has the CPU while kdamond sleeps, and until kdamond gets it back, which makes a
    sleep longer than `sample_us`. Either task's time has the interrupts that came into it.
    """
    return speeds_of(run, run.kdamond.sleeps * checks_a_sample(params, run))


def speeds_of(run: Run, checks: float) -> Speeds:
    """As `speeds()`, for a run in which kdamond made so many checks while the program played."""
    program, kdamond = run.program, run.kdamond
    played = program.ended - program.begun - kdamond.work_ns
    return Speeds(
        access_ns=played / (program.draws * int(BATCH)),
        check_ns=(kdamond.work_ns - kdamond.applying_ns) / max(checks, 1),
        sleep_us=played / kdamond.sleeps / 1000,
    )


def _ns(us: int, run: Run) -> int:
    # The log's microseconds are modulo 2**32; a run is shorter than that by far.
    now = run.program.ended // 1000
    return (now + (us - now + 2**31) % 2**32 - 2**31) * 1000


def program(config: masim.Config, params: Monitoring) -> str:
    """Standard input of lib/kernel/damon/guest/masim.c."""
    names = list(config.regions)
    # Schemes are about pages that are not there yet, too.
    populated = 0 if isinstance(params, WithSchemes) else 2 if setup.fresh(params) else 1
    lines = [f"{params.switch_us} {params.seed} {populated}", str(len(names))]
    lines += [str(size) for size in config.regions.values()]
    lines.append(str(len(config.phases)))
    for phase in config.phases:
        lines.append(f"{phase.ms} {len(phase.accesses)}")
        lines += [
            f"{names.index(a.region)} {int(a.random)} {a.stride} {a.weight}" for a in phase.accesses
        ]
    return "\n".join(lines) + "\n"


def switches(params: Monitoring) -> dict[str, str]:
    """Switches of lib/kernel/damon/patches that `params` turn, and their choice."""
    turned = {"damon/flush": "on"} if params.tlb == 0 else {}
    return turned | ({"damon/rand64": "on"} if params.rand64 else {})


def takes_patches(params: Monitoring) -> bool:
    """Whether a run that logs no numbers is of the kernel with patches: it turns a switch."""
    return bool(switches(params))


def attributes(params: Monitoring) -> dict[str, int]:
    """DAMON's attributes as lib/kernel/damon/guest/sysfs.py takes them."""
    names = ("sample_us", "aggr_us", "update_us", "min_regions", "max_regions")
    return {name: getattr(params, name) for name in names} | {"update_us": params.looks_us}


def request(requests: list[RunRequest], log: str, shift: int = 3, cpus: int = 1) -> Request:
    """A boot that plays programs, each monitored as its parameters say, from beginning to end.

    Parameters
    ----------
    requests : list of RunRequest
    log : str
        "regions"; "numbers", with every random number and check, on the kernel with patches, where
        damon_rand() is a function that a probe can watch; "traced", with every check, by tracefs,
        on a 7.3 of the reader's own; or "" for no probe at all.
    shift : int
        An instruction of the guest takes 2**shift ns.
    cpus : int
        CPUs of the guest, of which one executes at a time.
    """
    runs = [
        {
            "masim": program(one.config, one.params),
            "attrs": attributes(one.params),
            "switches": switches(one.params),
            "schemes": list(one.schemes),
        }
        for one in requests
    ]
    seconds = sum(masim.seconds(one.config) for one in requests)
    longest = BOOT_SECONDS + SLOWER * seconds * 8 / 2**shift
    machine = Machine(cpus, icount=True, shift=shift)
    if log == "traced":
        job = Job("damon", "traced", {"runs": runs}, longest)
        machine = machine._replace(append=ALONE)
    else:
        job = Job("damon", "masim", {"log": log, "runs": runs}, longest)
    patched = log == "numbers" or switched(run["switches"] for run in runs)
    return Request(machine, job, patched)


def logged(each: Sequence[Monitoring], measured: Measured, first: int = 0) -> list[Run]:
    """The runs of a boot whose regions were logged, from the `first` on; see `check_windows`."""
    runs = []
    for number, params in enumerate(each, first):
        runs.append(read(measured.rows, number))
        check_windows(params, runs[-1])
    return runs


def check_windows(params: Monitoring, run: Run) -> None:
    """Raise BadInput where no window of a log ended while the program played."""
    if played(run):
        return
    rested = ", or watermarks at which schemes do not rest all the time" if run.watermarks else ""
    seconds = (run.program.ended - run.program.begun) / 1e9
    raise BadInput(
        f"aggr_us={params.aggr_us}: no window ended in the {seconds:.1f} s that "
        f"the program played; takes a shorter one, a longer program{rested}"
    )


def read(rows: list[dict[str, Any]], number: int) -> Run:
    """Put together what the guest said of run `number`."""
    answer: dict[str, Any] = {"log": ""}
    for row in rows:
        if row["run"] == number:
            answer |= row | {"log": answer["log"] + row.get("log", "")}
    *truth, (ended, draws) = answer["truth"]
    pairs = {name: answer[name] for name in ("regions", "own", "mappings", "bare")} | {
        "truth": truth
    }
    arrays = {name: np.array(of, np.uint64).reshape(-1, 2) for name, of in pairs.items()}
    work_ns, sleeps = answer["work"]
    log = zlib.decompress(base64.b64decode(answer["log"])) if answer["log"] else b""
    return Run(
        Program(**arrays, ended=ended, draws=draws),
        Kdamond(answer["watched"], work_ns, sleeps, answer["applying"]),
        np.frombuffer(log, EVENT),
        answer["schemes"],
        answer["memory"],
        answer["watermarks"],
        answer.get("began"),
    )
