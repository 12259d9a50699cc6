"""The DAMON experiments on a real kernel: 6.12 in a guest, with a program that says what it does.

The guest's clock is its instruction count (QEMU's -icount), so a run does not depend on how fast
or how busy the host is. An instruction takes 32 ns, which makes a slow CPU of the guest, for an
emulator needs far longer than a nanosecond for one; a record says what an access and a check took.
Where cost is measured an instruction takes 1 ns, and kdamond's time is its instructions. There is
one CPU, where schemes are applied a second one.

`tlb=0` turns the series' switch that flushes a TLB entry with its accessed bit; any other `tlb`
leaves the kernel as it is, in front of QEMU's own TLB: 256 entries and a victim cache of 8 until
something flushes it, later as many as were in use (accel/tcg/cputlb.c).
"""

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np

from lorelab.damon.experiments.truth import Told, spans
from lorelab.damon.model.memory import BATCH
from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.params import Masim, Monitoring, Schemes, Variant
from lorelab.damon.workload import masim, setup
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Lab, Measured, measure
from lorelab.params import label, only_model

EVENT = np.dtype(
    [(name, "<u8") for name in ("x", "y", "checks")]
    + [(name, "<u4") for name in ("n", "age", "kind", "us")]
)
"""An entry of the guest's log (lib/kernel/damon/guest/log.py)."""
FREE, RAND, CHECK, AGGREGATED, TRIED = 0, 1, 2, 3, 4
FOLLOWED = (Variant.DAMON, Variant.SETTINGS_2020)
PAGE = 4096
LARGEST_MIB = 1024
"""What the program may touch, in a guest of 2 GiB."""
BOOT_SECONDS = 300.0
"""For the guest's compiler, which builds the probe at an emulator's pace on a busy host."""
SLOWER = 60.0
"""Seconds that a second of the guest may take; some 2 on an idle machine, at 8 ns."""


class Run(NamedTuple):
    """What one run in the guest came to."""

    regions: np.ndarray  # (n, 2) u8: address and bytes of each of the program's regions
    own: np.ndarray  # (n, 2) u8: address and bytes of what it touches besides
    mappings: np.ndarray  # (n, 2) u8: start and end of each of its mappings
    truth: np.ndarray  # (n, 2) u8: ns from which each access pattern was in use, and its number
    ended: int  # ns when the program was done
    draws: int  # of a pattern, each for BATCH accesses
    work_ns: int  # kdamond's time on the CPU while the program ran
    sleeps: int  # how often it went to sleep meanwhile: once a sample
    schemes: list[dict[str, int]]
    log: np.ndarray  # EVENT
    memory: dict[str, float] | None = None  # of the process, where schemes were applied
    bare: np.ndarray | None = None  # (n, 2) u8: mappings without pages of their own
    applying_ns: int = 0  # of work_ns: in the actions of schemes
    watched: int = 0  # ns when monitoring began
    watermarks: list[list[int]] | None = None  # a scheme each: high, mid, low, us between looks


def check(params: Monitoring) -> None:
    """Raise BadInput for what the laboratory's kernel can't follow."""
    if params.variant not in FOLLOWED:
        raise BadInput(
            f"variant={label(params.variant)}: the kernel runs "
            f"{' and '.join(label(one) for one in FOLLOWED)}; the model has them all"
        )
    for name in sorted(only_model(type(params))):
        if getattr(params, name) != type(params).model_fields[name].default:
            raise BadInput(f"{name}={getattr(params, name)}: a kernel takes what it takes")


def watched(wanted: list[Masim], lab: Lab | None = None) -> tuple[list[Run], Measured]:
    """Play the programs of `wanted` in one boot, each from beginning to end, and log regions."""
    configs = []
    for params in wanted:
        check(params)
        config = spans(params)
        if sum(config.regions.values()) >> 20 > LARGEST_MIB:
            raise BadInput(
                f"workload={params.workload}: takes {LARGEST_MIB} MiB at most on the kernel"
            )
        configs.append(config)
    return boot(wanted, configs, [[] for _ in wanted], "regions", lab, shift=5)


def told(run: Run) -> Told:
    """What the program of a run said, and DAMON of it."""
    return Told(run.regions, run.truth, run.ended, windows(run))


def windows(run: Run) -> list[tuple[int, int, np.ndarray]]:
    """When each window of a run ended (ns), its checks, and its regions as SNAPSHOT rows."""
    said = run.log[run.log["kind"] == AGGREGATED]
    if not len(said):
        return []
    # Addresses start anew with each report.
    first = np.flatnonzero(np.append(True, said["x"][1:] <= said["x"][:-1]))
    found, before = [], 0
    for a, b in zip(first, np.append(first[1:], len(said)), strict=True):
        rows = np.zeros(b - a, SNAPSHOT)
        rows["start"], rows["end"] = said["x"][a:b], said["y"][a:b]
        rows["nr_accesses"], rows["age"] = said["n"][a:b], said["age"][a:b]
        checks = int(said["checks"][a])
        found.append((_ns(int(said["us"][a]), run), checks - before, rows))
        before = checks
    return found


def speeds(params: Masim, run: Run) -> tuple[float, float, float]:
    """What an access of the program and a check of kdamond took (ns), and a sleep of kdamond (us).

    The program has the CPU while kdamond sleeps, and until kdamond gets it back, which makes a
    sleep longer than `sample_us`. Either task's time has the interrupts that came into it.
    """
    begun, samples = int(run.truth[0, 0]), params.aggr_us // params.sample_us
    checks = [number for end, number, _ in windows(run) if begun < end <= run.ended]
    each = sum(checks) / len(checks) / samples
    return took(run, run.sleeps * each)


def took(run: Run, checks: float) -> tuple[float, float, float]:
    """As `speeds()`, for a run in which kdamond made so many checks while the program played."""
    played = run.ended - int(run.truth[0, 0]) - run.work_ns
    checking = run.work_ns - run.applying_ns
    access, check = played / (run.draws * int(BATCH)), checking / max(checks, 1)
    return access, check, played / run.sleeps / 1000


def _ns(us: int, run: Run) -> int:
    # The log's microseconds are modulo 2**32; a run is shorter than that by far.
    now = run.ended // 1000
    return (now + (us - now + 2**31) % 2**32 - 2**31) * 1000


def program(config: masim.Config, params: Monitoring) -> str:
    """Standard input of lib/kernel/damon/guest/masim.c."""
    names = list(config.regions)
    # Schemes are about pages that are not there yet, too.
    there = 0 if isinstance(params, Schemes) else 2 if setup.fresh(params) else 1
    lines = [f"{params.switch_us} {params.seed} {there}", str(len(names))]
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


def attributes(params: Monitoring) -> dict[str, int]:
    """DAMON's attributes as lib/kernel/damon/guest/sysfs.py takes them."""
    names = ("sample_us", "aggr_us", "update_us", "min_regions", "max_regions")
    attrs = {name: getattr(params, name) for name in names}
    return attrs | ({"update_us": 1_000_000} if params.variant == Variant.SETTINGS_2020 else {})


def boot(
    wanted: list[Monitoring],
    configs: list[masim.Config],
    schemes: list[list[dict[str, Any]]],
    log: str,
    lab: Lab | None,
    shift: int = 3,
    cpus: int = 1,
) -> tuple[list[Run], Measured]:
    """Play `configs` in one boot, each monitored as its `wanted` says, from beginning to end.

    Parameters
    ----------
    schemes : list
        For each run, its schemes as lib/kernel/damon/guest/sysfs.py takes them.
    log : str
        "regions", "numbers" (with every random number and check), or "" for no probe at all.
    shift : int
        An instruction of the guest takes 2**shift ns.
    cpus : int
        CPUs of the guest, of which one executes at a time.

    Raises
    ------
    BadInput
        No window that is logged ended while the program played.
    """
    runs = [
        {
            "masim": program(config, params),
            "attrs": attributes(params),
            "switches": switches(params),
            "schemes": scheme,
        }
        for params, config, scheme in zip(wanted, configs, schemes, strict=True)
    ]
    seconds = sum(masim.seconds(config) for config in configs)
    longest = BOOT_SECONDS + SLOWER * seconds * 8 / 2**shift
    job = Job("damon", "masim", {"log": log, "runs": runs}, longest)
    patched = log == "numbers" or any(run["switches"] for run in runs)
    machine = Machine(cpus=cpus, memory_mib=2048, icount=True, qemu=("-icount", f"shift={shift}"))
    measured = measure(machine, job, lab, patched=patched)
    found = [read(measured.rows, number) for number in range(len(wanted))]
    if log:
        for params, run in zip(wanted, found, strict=True):
            check_windows(params, run)
    return found, measured


def check_windows(params: Monitoring, run: Run) -> None:
    """Raise BadInput where no window of a log ended while the program played."""
    begun = int(run.truth[0, 0])
    if any(begun < end <= run.ended for end, _, _ in windows(run)):
        return
    rested = ", or watermarks at which schemes do not rest all the time" if run.watermarks else ""
    raise BadInput(
        f"aggr_us={params.aggr_us}: no window ended in the {(run.ended - begun) / 1e9:.1f} s that "
        f"the program played; takes a shorter one, a longer program{rested}"
    )


def read(rows: list[dict[str, Any]], number: int) -> Run:
    """Put together what the guest said of run `number`."""
    said: dict[str, Any] = {"log": ""}
    for row in rows:
        if row["run"] == number:
            said |= row | {"log": said["log"] + row.get("log", "")}
    *truth, (ended, draws) = said["truth"]
    log = zlib.decompress(base64.b64decode(said["log"])) if said["log"] else b""
    return Run(
        np.array(said["regions"], np.uint64).reshape(-1, 2),
        np.array(said["own"], np.uint64).reshape(-1, 2),
        np.array(said["mappings"], np.uint64).reshape(-1, 2),
        np.array(truth, np.uint64).reshape(-1, 2),
        ended,
        draws,
        *said["work"],
        said["schemes"],
        np.frombuffer(log, EVENT),
        said["memory"],
        np.array(said["bare"], np.uint64).reshape(-1, 2),
        said["applying"],
        said["watched"],
        said["watermarks"],
    )
