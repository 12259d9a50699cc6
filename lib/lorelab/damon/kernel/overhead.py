"""`damon/overhead` on a real kernel, where kdamond's time is its instructions."""

import pandas as pd

from lorelab.counters import table
from lorelab.damon.kernel.boot import (
    LARGEST_MIB,
    Run,
    RunRequest,
    check,
    checks_a_sample,
    logged,
    played,
    read,
    request,
    takes_patches,
)
from lorelab.damon.params import Overhead
from lorelab.damon.workload.overhead import program as overhead_program
from lorelab.errors import BadInput
from lorelab.lab import run
from lorelab.lab.records import Record
from lorelab.lab.run import DEFAULTS, Measured, Measurement, RunOptions
from lorelab.params import label

NAME = "damon/overhead"


def measure(requested: list[Overhead], options: RunOptions = DEFAULTS) -> list[Record]:
    """Run `damon/overhead` on a kernel, twice: with nothing attached to it, and to count regions.

    Returns
    -------
    list of Record
        The model's counters. The CPU's share and the samples, so also the windows, are of the run
        that nothing is attached to; the regions are of the other one, on a slower CPU, and the
        checks are those samples on these regions. Besides, kdamond's instructions a sample and a
        check, with those of the interrupts that hit it and of what it does once a window. Each is
        of two boots, and has what the reader's probes said in both.
    """
    for params in requested:
        check(params)
        if touched(params) > LARGEST_MIB * 2 // 3:
            raise BadInput(
                f"mib={params.mib}: the guest has room to touch {LARGEST_MIB * 2 // 3} MiB; "
                "takes touched_mib"
            )
    return run.batch_by_machine(
        requested, takes_patches, lambda batch: _measured_twice(batch, options)
    )


def _measured_twice(batch: list[Overhead], options: RunOptions) -> list[Record]:
    requests = [RunRequest(params, overhead_program(params)) for params in batch]
    watched = run.measure(request(requests, "regions", shift=3), options)
    counted = logged(batch, watched)

    def counters(params: Overhead, measured: Measured, number: int) -> pd.DataFrame:
        cost = _cost(params, counted[number], read(measured.rows, number))
        return table(NAME, label(params.variant), "kernel", cost, first=0)

    loop = Measurement(
        NAME, lambda _: request(requests, "", shift=0), counters, machine=run.one_boot
    )
    return [_of_both(watched, record) for record in loop(batch, options)]


def _of_both(watched: Measured, record: Record) -> Record:
    # Records until November 2026 say one boot, which is the one that nothing is attached to.
    boots = watched.source["boots"] + record.provenance.boots
    provenance = record.provenance.model_copy(update={"boots": boots})
    frames = [*watched.extra_frames, *record.probes]
    return record._replace(provenance=provenance, probes=frames)


def _cost(params: Overhead, counted: Run, alone: Run) -> dict[str, tuple[str, list[float]]]:
    took = (alone.program.ended - alone.program.begun) / 1e9
    regions = [len(window.regions) for window in played(counted)]
    each = checks_a_sample(params, counted)
    work_ns, sleeps = alone.kdamond.work_ns, alone.kdamond.sleeps
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
