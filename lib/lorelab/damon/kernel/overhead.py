"""`damon/overhead` on a real kernel, where kdamond's time is its instructions."""

from lorelab.counters import table
from lorelab.damon.experiments.overhead import program as overhead_program
from lorelab.damon.kernel.boot import LARGEST_MIB, boot, check, windows
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.params import label


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
    configs = [overhead_program(params) for params in wanted]
    nothing = [[] for _ in wanted]
    counted, _ = boot(wanted, configs, nothing, "regions", lab, shift=3)
    runs, measured = boot(wanted, configs, nothing, "", lab, shift=0)
    found = []
    for number, (params, seen, run) in enumerate(zip(wanted, counted, runs, strict=True), 1):
        begun = int(run.truth[0, 0])
        took = (run.ended - begun) / 1e9
        of = int(seen.truth[0, 0])
        regions = [len(rows) for end, _, rows in windows(seen) if of < end <= seen.ended]
        sampled = [number for end, number, _ in windows(seen) if of < end <= seen.ended]
        samples = params.aggr_us // params.sample_us
        each = sum(sampled) / len(sampled) / samples
        checks = run.sleeps * each / took
        counters = {
            "nr_regions_mean": ("regions", [sum(regions) / len(regions)]),
            "nr_regions_max": ("regions", [max(regions)]),
            "checks_per_second": ("checks/s", [checks]),
            "cpu": ("share", [run.work_ns / 1e9 / took]),
            "windows_per_second": ("windows/s", [run.sleeps / samples / took]),
            "locks_per_second": ("locks/s", [2 * checks]),
            "instructions_per_sample": ("instructions", [run.work_ns / run.sleeps]),
            "instructions_per_check": ("instructions", [run.work_ns / run.sleeps / each]),
        }
        table_ = table("damon/overhead", label(params.variant), "kernel", counters, first=0)
        found.append(measured.record("damon/overhead", params, table_, number))
    return found


def touched(params: Overhead) -> int:
    """MiB that the program of `damon/overhead` touches."""
    config = overhead_program(params)
    names = {access.region for phase in config.phases for access in phase.accesses}
    return sum(config.regions[name] for name in names) >> 20
