"""`damon/overhead` on a real kernel, where kdamond's time is its instructions."""

from lorelab.counters import table
from lorelab.damon.experiments.overhead import program as overhead_program
from lorelab.damon.kernel.boot import (
    LARGEST_MIB,
    Asked,
    Run,
    boot,
    check,
    checks_a_sample,
    played,
)
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.params import label

NAME = "damon/overhead"


def measure(wanted: list[Overhead], lab: Lab | None = None) -> list[Record]:
    """Run `damon/overhead` on a kernel, twice: with nothing attached to it, and to count regions.

    Returns
    -------
    list of Record
        The model's counters. The CPU's share and the samples, so also the windows, are of the run
        that nothing is attached to; the regions are of the other one, on a slower CPU, and the
        checks are those samples on these regions. Besides, kdamond's instructions a sample and a
        check, with those of the interrupts that hit it and of what it does once a window.
    """
    for params in wanted:
        check(params)
        if touched(params) > LARGEST_MIB * 2 // 3:
            raise BadInput(
                f"mib={params.mib}: the guest has room to touch {LARGEST_MIB * 2 // 3} MiB; "
                "takes touched_mib"
            )
    asked = [Asked(params, overhead_program(params)) for params in wanted]
    counted, _ = boot(asked, "regions", lab, shift=3)
    runs, measured = boot(asked, "", lab, shift=0)
    found = []
    for number, (params, seen, run) in enumerate(zip(wanted, counted, runs, strict=True), 1):
        counters = table(NAME, label(params.variant), "kernel", _cost(params, seen, run), first=0)
        found.append(measured.record(NAME, params, counters, number))
    return found


def _cost(params: Overhead, counted: Run, run: Run) -> dict[str, tuple[str, list[float]]]:
    took = (run.program.ended - run.program.begun) / 1e9
    regions = [len(window.regions) for window in played(counted)]
    each = checks_a_sample(params, counted)
    work_ns, sleeps = run.kdamond.work_ns, run.kdamond.sleeps
    checks = sleeps * each / took
    return {
        "nr_regions_mean": ("regions", [sum(regions) / len(regions)]),
        "nr_regions_max": ("regions", [max(regions)]),
        "checks_per_second": ("checks/s", [checks]),
        "cpu": ("share", [work_ns / 1e9 / took]),
        "windows_per_second": ("windows/s", [sleeps / params.samples / took]),
        "locks_per_second": ("locks/s", [2 * checks]),
        "instructions_per_sample": ("instructions", [work_ns / sleeps]),
        "instructions_per_check": ("instructions", [work_ns / sleeps / each]),
    }


def touched(params: Overhead) -> int:
    """MiB that the program of `damon/overhead` touches."""
    config = overhead_program(params)
    names = {access.region for phase in config.phases for access in phase.accesses}
    return sum(config.regions[name] for name in names) >> 20
