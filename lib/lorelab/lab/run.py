"""One call from a design's `kernel.py`: boot what was built, run a job, say where it came from."""

from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from lorelab.lab import boot, build, guest, needs, own
from lorelab.lab.records import Provenance, now


class Measured(NamedTuple):
    """What the guest said, and all of a provenance but the experiment's own part."""

    rows: list[dict[str, Any]]
    source: dict[str, Any]

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
    outcome = boot.run(kernel.image, root.root, programs, machine, job, modules=kernel.modules)
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
    )
