"""The loop of every kernel run: what can share a boot, the boot, records of what it gave.

A module of a design's `kernel/` ends with `measure = Measurement(...)`, or is composed of one.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lorelab.lab import boot, build, external_kernel, guest, needs, recipes
from lorelab.lab.records import Provenance, Record, now
from lorelab.params import Params

CMDLINE_OF_CONFIG = dict.fromkeys(("kasan", "debug"), ("no5lvl",))
"""Of a config, what the kernel's command line has besides. Both have KASAN, whose shadow begins
where the number of page-table levels puts it (KASAN_SHADOW_START, arch/x86/include/asm/kasan.h).
identify_cpu() clears the CPU's features for a moment, five levels among them; an interrupt that
comes then reads the direct map, and KASAN calls that wild. `no5lvl` has four levels throughout."""


class RunOptions(NamedTuple):
    """What whoever asks for a run wants otherwise than the experiment has it."""

    image: Path | None = None
    """A kernel of the reader's own, as `lorelab.lab.external_kernel` takes it."""
    probes: tuple[str, ...] = ()
    """Probes that watch every boot, besides the experiment's own."""
    icount: bool = False
    """A ns of the guest's clock is an instruction."""


DEFAULTS = RunOptions()


class Request(NamedTuple):
    """What a boot takes of the laboratory."""

    machine: boot.Machine
    job: boot.Job
    patched: bool = False
    """The kernel with the patches of the job's design, not the unmodified one. It follows from each
    run's parameters: those of the other kernel take another boot (`Measurement.machine`)."""
    config: str | None = None
    """A further config (`debug`, `kasan`, one of the design's) of that kernel."""


class Measured(NamedTuple):
    """What the guest said, and all of a provenance but the experiment's own part."""

    rows: list[dict[str, Any]]
    source: dict[str, Any]
    probes: list[dict[str, Any]]
    """Frames of the job's probes; `lorelab.lab.probes` makes tables of them."""
    extra_frames: list[dict[str, Any]]
    """Frames of those that the `RunOptions` name."""
    request: Request | None = None
    """What the boot was asked for."""

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
            counters = external_kernel.of_release(counters, kernel.release)
        values = params.model_dump(mode="json")
        provenance = Provenance(experiment=name, params=values, run_in_boot=run, **self.source)
        return Record(counters, provenance, self.extra_frames)


def switched(runs: Iterable[Mapping[str, str]]) -> bool:
    """Whether the runs of a boot turn switches, and so take the kernel with patches.

    Parameters
    ----------
    runs : iterable of dict
        Switches of each run. One that turns none is of the unmodified kernel, whatever is asked for
        beside it.

    Raises
    ------
    ValueError
        Some do and others do not: they can't share a boot.

    Examples
    --------
    >>> switched([{"swap/steal": "off"}]), switched([{}, {}])
    (True, False)
    >>> switched([{}, {"swap/steal": "off"}])
    Traceback (most recent call last):
    ValueError: a boot of runs with switches and without
    """
    kernels = {bool(switches) for switches in runs}
    if len(kernels) > 1:
        raise ValueError("a boot of runs with switches and without")
    return kernels == {True}


def kernel(request: Request, options: RunOptions = DEFAULTS) -> build.Kernel:
    """The kernel of a boot: the reader's own, or the laboratory's that is requested.

    Raises
    ------
    BadInput
        It is not there; names the command that builds the laboratory's.
    """
    if options.image:
        return external_kernel.find(options.image)
    return build.built(recipes.recipe(request.job.design, request.config, patched=request.patched))


def measure(
    request: Request, options: RunOptions = DEFAULTS, programs: Path | None = None
) -> Measured:
    """Boot the laboratory's guest once and run a job.

    Parameters
    ----------
    request : Request
    options : RunOptions, optional
    programs : Path, optional
        Folder whose files the guest finds beside its workloads, other than the design's programs.

    Raises
    ------
    BadInput
        QEMU, the kernel or the guest is not here; names the command that gets it.
    RunFailed
        The guest did not come to the job's end.
    """
    needs.check(needs.BOOT)
    machine, job = request.machine, request.job
    booted = kernel(request, options)
    if programs is None:
        # No config changes a guest's programs.
        programs = guest.programs(recipes.recipe(job.design, patched=request.patched))
    root, date = guest.built(), now()
    append = CMDLINE_OF_CONFIG.get(booted.info.config, ())
    machine = machine._replace(
        icount=machine.icount or options.icount, append=(*append, *machine.append)
    )
    extra = (name for name in options.probes if name not in job.probes)
    outcome = boot.run(
        booted.image,
        root.root,
        programs,
        machine,
        job._replace(probes=(*job.probes, *extra)),
        modules=booted.modules,
    )
    source = {
        "date": date,
        "lorelab": version("lorelab"),
        "kernel": booted.info.model_copy(update={"release": outcome.release}),
        "accelerator": outcome.accelerator,
        "icount": machine.icount,
        "boots": 1,
        "qemu": boot.qemu_version(),
        "command": outcome.command,
        "programs": outcome.programs,
        "guest": root.info,
    }
    own_frames, extra_frames = (
        [frame for frame in outcome.probes if frame["probe"] in names]
        for names in (job.probes, options.probes)
    )
    return Measured(outcome.rows, source, own_frames, extra_frames, request)


def one_boot(params: Params) -> int:
    """`Measurement.machine` of an experiment whose runs all share a boot.

    Examples
    --------
    >>> one_boot(Params())
    0
    """
    return 0


def _anything(params: Params, options: RunOptions) -> None:
    """No parameters are refused."""


def _once(params: Params) -> int:
    return 1


class Measurement(NamedTuple):
    """How an experiment runs on a kernel: `measure(requested, options)` gives a record for each."""

    name: str
    """Experiment as `design/experiment`."""
    request: Callable[[list[Any]], Request]
    """The boot of some parameters that can share one."""
    counters: Callable[[Any, Measured, int], pd.DataFrame]
    """Counters of one set of parameters, whose first run of the boot is the given one, from 0."""
    machine: Callable[[Any], Any] | None = None
    """What parameters that can share a boot have in common, in an order of its own; None where each
    takes a boot."""
    check: Callable[[Any, RunOptions], None] = _anything
    """Raises BadInput for parameters that a kernel can't follow; all are checked before a boot."""
    repeats: Callable[[Any], int] = _once
    """Runs that one set of parameters has in its boot."""
    warm_up: int = 0
    """Runs of a boot before the first that is counted."""

    def __call__(self, requested: list[Any], options: RunOptions = DEFAULTS) -> list[Record]:
        """Run them, those that can in one boot; records in the order of `requested`.

        Raises
        ------
        BadInput
            A kernel can't follow a parameter, or the laboratory lacks something.
        RunFailed
            A guest did not come to the end, or what it gave is not whole.
        """
        for params in requested:
            self.check(params, options)
        if self.machine is None:
            return [record for params in requested for record in self._boot([params], options)]
        return batch_by_machine(requested, self.machine, lambda batch: self._boot(batch, options))

    def _boot(self, batch: list[Any], options: RunOptions) -> list[Record]:
        measured = measure(self.request(batch), options)
        records, run = [], self.warm_up
        for params in batch:
            counters = self.counters(params, measured, run)
            records.append(measured.record(self.name, params, counters, run + 1))
            run += self.repeats(params)
        return records


def batch_by_machine(
    requested: list[Any],
    machine: Callable[[Any], Any],
    boot_once: Callable[[list[Any]], list[Record]],
) -> list[Record]:
    """Records in the order of `requested`, of boots that parameters of one `machine` share.

    Examples
    --------
    >>> def boot_once(cpus):
    ...     print("boots for", cpus)
    ...     return [f"record of {number}" for number in cpus]
    >>> batch_by_machine([2, 1, 2], lambda cpus: cpus, boot_once)
    boots for [1]
    boots for [2, 2]
    ['record of 2', 'record of 1', 'record of 2']
    """
    places = sorted(range(len(requested)), key=lambda n: machine(requested[n]))
    records: dict[int, Record] = {}
    for _, group in groupby(places, key=lambda n: machine(requested[n])):
        batch = list(group)
        records.update(zip(batch, boot_once([requested[n] for n in batch]), strict=True))
    return [records[n] for n in range(len(requested))]
