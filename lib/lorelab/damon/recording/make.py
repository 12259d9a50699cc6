"""Recordings that damo made in the laboratory's guest, in data/recordings with their provenance.

A recording is damo's file as it left the guest, beside a JSON of where it came from that has the
file's digest. damo needs perf for all that it gets from the tracepoint, which the guest lacks: a
stand-in reads the same events through tracefs (lib/kernel/damon/guest/perf.py).
"""

import base64
from pathlib import Path
from typing import NamedTuple

from lorelab import atomic
from lorelab.damon.kernel.boot import BOOT_SECONDS, SLOWER, program
from lorelab.damon.params import Masim
from lorelab.damon.workload.masim import seconds
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import cache, records
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import DEFAULTS, Request, RunOptions, measure

FOLDER = Path(__file__).resolve().parents[4] / "data" / "recordings"
NAME = "damon/recording"


class Plan(NamedTuple):
    """A recording: what is watched, and how damo is asked to."""

    params: Masim
    options: tuple[str, ...]


PROGRAM = Masim(workload="turns", mib=16)
PLANS = {
    "turns.damon.data": Plan(PROGRAM, ()),
    "turns.perf.txt": Plan(PROGRAM, ("--output_type", "perf_data")),
    "turns-200ms.json": Plan(
        PROGRAM,
        ("--output_type", "json", "--monitoring_intervals", "5ms", "200ms", "1s"),
    ),
}
"""By file name: in compressed JSON, which is damo's default; the text of `perf script`; plain JSON,
of longer windows."""


def make(options: RunOptions = DEFAULTS, folder: Path = FOLDER) -> list[Path]:
    """Have damo make every recording again, all in one boot; the old ones are replaced."""
    runs = [
        {"masim": program(configuration(one.params), one.params), "options": one.options}
        for one in PLANS.values()
    ]
    longest = BOOT_SECONDS + SLOWER * sum(
        seconds(configuration(one.params)) for one in PLANS.values()
    )
    # 32 ns an instruction: damo's own start takes as many instructions as the program.
    machine = Machine(icount=True, shift=5)
    job = Job("damon", "damo", {"runs": runs}, longest)
    measured = measure(Request(machine, job), options)
    written = []
    for number, (name, one) in enumerate(PLANS.items()):
        rows = [row for row in measured.rows if row["run"] == number]
        data = base64.b64decode("".join(row.get("part", "") for row in rows))
        params = one.params.model_dump(mode="json") | {"damo": ["record", *one.options]}
        provenance = records.Provenance(
            experiment=NAME, params=params, run_in_boot=number + 1, **measured.source
        )
        try:
            # Both are written before either is replaced: where they don't fit, the old ones stay.
            with atomic.folder(folder) as part:
                (part / name).write_bytes(data)
                source(name, part).write_text(records.sealed(provenance, data))
                (part / name).replace(folder / name)
                source(name, part).replace(source(name, folder))
        except OSError as error:
            raise RunFailed(f"cannot write {folder / name}: {error.strerror}") from None
        written.append(folder / name)
    return written


def source(name: str, folder: Path = FOLDER) -> Path:
    """Where the provenance of a recording is."""
    return folder / f"{name}.provenance.json"


def provenance(name: str, folder: Path = FOLDER) -> records.Provenance:
    """Where a recording came from.

    Raises
    ------
    BadInput
        The recording or its provenance is not what was written.
    """
    sealed = records.unseal(source(name, folder))
    if cache.digest((folder / name).read_bytes()) != sealed.counters_sha256:
        raise BadInput(f"{folder / name} is not what was recorded (its digest differs)")
    return sealed.provenance
