"""One call from a design's `kernel.py`: boot what was built, run a job, say where it came from."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from lorelab.lab import boot, build, guest, needs, own, probes
from lorelab.lab.records import Provenance, now

_asked: ContextVar[dict[str, list[dict[str, Any]]]] = ContextVar("probes")
_icount: ContextVar[bool] = ContextVar("icount", default=False)


class Measured(NamedTuple):
    """What the guest said, and all of a provenance but the experiment's own part."""

    rows: list[dict[str, Any]]
    source: dict[str, Any]
    probes: list[dict[str, Any]]
    """Frames of the job's probes; `lorelab.lab.probes` makes tables of them."""

    def provenance(self, experiment: str, params: dict[str, Any], run: int = 1) -> Provenance:
        """Provenance of the `run`-th run of the boot."""
        return Provenance(experiment=experiment, params=params, run_in_boot=run, **self.source)


def measure(
    machine: boot.Machine, job: boot.Job, image: Path | None = None, patched: bool = False
) -> Measured:
    """Boot the laboratory's guest and run `job`.

    Parameters
    ----------
    machine : Machine
    job : Job
    image : Path, optional
        A kernel of the reader's own, as `lorelab.lab.own` takes it; otherwise the laboratory's.
    patched : bool
        The laboratory's kernel with lib/kernel/patches, not the unmodified one.

    Raises
    ------
    BadInput
        QEMU, the kernel or the guest is not here; names the command that gets it.
    RunFailed
        The guest did not come to the job's end.
    """
    needs.check(needs.BOOT)
    made = build.recipe(patched=patched)
    kernel = own.find(image) if image else build.built(made)
    root, programs, date = guest.built(), guest.programs(made), now()
    asked = _asked.get({})
    machine = machine._replace(icount=machine.icount or _icount.get())
    job = job._replace(probes=(*job.probes, *(name for name in asked if name not in job.probes)))
    outcome = boot.run(kernel.image, root.root, programs, machine, job, modules=kernel.modules)
    for frame in outcome.probes:
        if frame["probe"] in asked:
            asked[frame["probe"]].append(frame)
    return Measured(
        outcome.rows,
        {
            "date": date,
            "lorelab": version("lorelab"),
            "kernel": kernel.info.model_copy(update={"release": outcome.release}),
            "accelerator": outcome.accelerator,
            "icount": machine.icount,
            "boots": 1,
            "qemu": boot.qemu_version(),
            "command": outcome.command,
            "programs": outcome.programs,
            "guest": root.info,
        },
        outcome.probes,
    )


@contextmanager
def probed(
    names: tuple[str, ...], icount: bool = False
) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """Attach probes to every boot within, whatever the experiment.

    With `icount`, a ns of the guest's clock is an instruction.

    Yields
    ------
    dict
        What each of them said, filled in as boots end (see `lorelab.lab.probes`).
    """
    for name in names:
        probes.source(name)
    said = {name: [] for name in names}
    tokens = _asked.set(said), _icount.set(icount)
    try:
        yield said
    finally:
        _asked.reset(tokens[0])
        _icount.reset(tokens[1])
