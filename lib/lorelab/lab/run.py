"""One call from a design's `kernel/`: boot what was built, run a job, say where it came from."""

from collections.abc import Callable
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lorelab.lab import boot, build, guest, needs, own
from lorelab.lab.records import Provenance, Record, now
from lorelab.params import Params

WORDS = dict.fromkeys(("kasan", "debug"), ("no5lvl",))
"""Of a config, what the kernel's command line has besides. Both have KASAN, whose shadow begins
where the number of page-table levels puts it (KASAN_SHADOW_START, arch/x86/include/asm/kasan.h).
identify_cpu() clears the CPU's features for a moment, five levels among them; an interrupt that
comes then reads the direct map, and KASAN calls that wild. `no5lvl` has four levels throughout."""


class Lab(NamedTuple):
    """What whoever asks for a run wants otherwise than the experiment has it."""

    image: Path | None = None
    """A kernel of the reader's own, as `lorelab.lab.own` takes it."""
    probes: tuple[str, ...] = ()
    """Probes that watch every boot, besides the experiment's own."""
    icount: bool = False
    """A ns of the guest's clock is an instruction."""


class Measured(NamedTuple):
    """What the guest said, and all of a provenance but the experiment's own part."""

    rows: list[dict[str, Any]]
    source: dict[str, Any]
    probes: list[dict[str, Any]]
    """Frames of the job's probes; `lorelab.lab.probes` makes tables of them."""
    asked: list[dict[str, Any]]
    """Frames of those that `Lab` asked for."""

    def record(self, name: str, params: Params, counters: pd.DataFrame, run: int = 1) -> Record:
        """The record of the `run`-th run of the boot, from 1.

        Parameters
        ----------
        name : str
            Experiment as `design/experiment`.
        params : Params
        counters : DataFrame
            See `lorelab.counters`; those of a reader's kernel get the variant of its release.
        """
        kernel = self.source["kernel"]
        if kernel.digest is None:
            counters = own.of_release(counters, kernel.release)
        given = params.model_dump(mode="json")
        provenance = Provenance(experiment=name, params=given, run_in_boot=run, **self.source)
        return Record(counters, provenance, self.asked)


def measure(
    machine: boot.Machine, job: boot.Job, lab: Lab | None = None, patched: bool = False
) -> Measured:
    """Boot the laboratory's guest and run `job`.

    Parameters
    ----------
    machine : Machine
    job : Job
    lab : Lab, optional
    patched : bool
        The kernel with the patches of the job's design, not the unmodified one.

    Raises
    ------
    BadInput
        QEMU, the kernel or the guest is not here; names the command that gets it.
    RunFailed
        The guest did not come to the job's end.
    """
    lab = lab or Lab()
    needs.check(needs.BOOT)
    made = build.recipe(job.design, patched=patched)
    kernel = own.find(lab.image) if lab.image else build.built(made)
    root, programs, date = guest.built(), guest.programs(made), now()
    words = WORDS.get(kernel.info.config, ())
    machine = machine._replace(
        icount=machine.icount or lab.icount, append=(*words, *machine.append)
    )
    every = (*job.probes, *(name for name in lab.probes if name not in job.probes))
    whole = job._replace(probes=every)
    outcome = boot.run(kernel.image, root.root, programs, machine, whole, modules=kernel.modules)
    source = {
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
    }
    mine, asked = (
        [frame for frame in outcome.probes if frame["probe"] in names]
        for names in (job.probes, lab.probes)
    )
    return Measured(outcome.rows, source, mine, asked)


def by_boot(
    wanted: list[Params],
    kind: Callable[[Params], Any],
    measure: Callable[[list[Params]], list[Record]],
) -> list[Record]:
    """Measure together what can share a boot.

    Parameters
    ----------
    wanted : list of Params
    kind : callable
        What is the same for runs that can, in an order of its own.
    measure : callable
        Gets runs of one kind.

    Returns
    -------
    list of Record
        As `wanted`.
    """
    places = sorted(range(len(wanted)), key=lambda n: kind(wanted[n]))
    found: dict[int, Record] = {}
    for _, group in groupby(places, key=lambda n: kind(wanted[n])):
        alike = list(group)
        found.update(zip(alike, measure([wanted[n] for n in alike]), strict=True))
    return [found[n] for n in range(len(wanted))]
