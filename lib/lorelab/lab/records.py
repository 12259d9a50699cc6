"""Recorded kernel runs: a CSV of counters beside a JSON of where they came from.

data/kernel/DESIGN/EXPERIMENT/PARAMS--DATE.csv and .json. A record is written once and never
again; a later run of the same parameters is another record, and the newest one is read. One of the
same second is PARAMS--DATE-2. Runs of a reader's own kernel stand beside them as
kernel=RELEASE,PARAMS--DATE, and are read only by their release.
"""

import functools
import io
import json
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import cache
from lorelab.lab.build import KernelInfo
from lorelab.lab.guest import GuestInfo
from lorelab.params import Params, for_kernel, to_cli

FOLDER = Path(__file__).resolve().parents[3] / "data" / "kernel"
T = TypeVar("T")


class Provenance(BaseModel):
    """Where the counters of a kernel run came from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    params: dict[str, Any]
    date: datetime
    lorelab: str
    kernel: KernelInfo
    accelerator: str
    """`tcg` or `kvm`."""
    icount: bool
    """One emulated instruction a tick, so that costs can be counted; times mean nothing else."""
    boots: int
    """Boots that the counters come from."""
    run_in_boot: int
    """Place of this run among those of its boot, from 1."""
    qemu: str
    command: list[str]
    """QEMU's command line; `CACHE` and `RUN` stand for this machine's folders."""
    programs: dict[str, str]
    """SHA-256 of each file the guest ran."""
    guest: GuestInfo


class Record(NamedTuple):
    """Counters of a kernel run (see `lorelab.counters`) and their provenance."""

    counters: pd.DataFrame
    provenance: Provenance
    probes: Sequence[dict[str, Any]] = ()
    """What probes said that the reader asked for (see `lorelab.lab.probes`); it is not kept."""


class _Sealed(BaseModel, Generic[T]):
    """The JSON file: `seal` is the digest of all the rest, `counters_sha256` that of the CSV."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provenance: T
    counters_sha256: str
    seal: str


def save(record: Record, params: Params, folder: Path | None = None) -> Path | None:
    """Keep a record; None when the newest one of these parameters says the same of this kernel.

    It is kept, too, when the newest one was made by other guest programs: that these say the same
    is new.

    A kernel that was not built here is told by its image, and kept under its release.

    Raises
    ------
    RunFailed
        The folder can't be written; nothing is left half-written.
    """
    home = _home(record.provenance.experiment, folder)
    text = record.counters.to_csv(index=False, lineterminator="\n").encode()
    kernel = record.provenance.kernel
    release = _own(kernel)
    before = _newest(home, params, release)
    if before is not None:
        _, old = before
        same = old.counters_sha256 == cache.digest(text)
        key = "image_sha256" if release else "digest"
        same &= getattr(old.provenance.kernel, key) == getattr(kernel, key)
        if same and old.provenance.programs == record.provenance.programs:
            return None
    which = f"kernel={release}," if release else ""
    stem = f"{which}{to_cli(params).replace(' ', '_')}--{record.provenance.date:%Y%m%dT%H%M%SZ}"
    csv = home / f"{stem}.csv"
    try:
        home.mkdir(parents=True, exist_ok=True)
        csv = _new(home, stem, text)
    except OSError as error:
        raise RunFailed(f"cannot write {csv}: {error.strerror}; nothing was recorded") from None
    # The JSON comes last: a CSV without one is no record.
    try:
        atomic.write(csv.with_suffix(".json"), sealed(record.provenance, text), new=True)
    except OSError as error:
        with suppress(OSError):  # on a read-only disk not even what is not there goes
            csv.unlink()
        raise RunFailed(f"cannot write {csv}: {error.strerror}; nothing was recorded") from None
    return csv


def _new(home: Path, stem: str, text: bytes) -> Path:
    """Write a CSV under a name that no record has; all runs of a boot have the same date."""
    for number in count(1):
        csv = home / (f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv")
        with suppress(FileExistsError):
            return atomic.write(csv, text, new=True)
    raise AssertionError


def sealed(provenance: BaseModel, data: bytes) -> str:
    """The JSON file beside `data`: where it came from, its digest, and a seal over both.

    Examples
    --------
    >>> source = Provenance.model_construct(experiment="swap/tiny", boots=1)
    >>> list(json.loads(sealed(source, b"step,value")))
    ['provenance', 'counters_sha256', 'seal']
    """
    body = {
        "provenance": provenance.model_dump(mode="json"),
        "counters_sha256": cache.digest(data),
    }
    return json.dumps({**body, "seal": _seal(body)}, indent=1) + "\n"


_loaded: dict[Path, Record] = {}
"""What this process has read, by file, for `loaded()`."""


def loaded() -> list[Record]:
    """Every record that this process has read, each once: a page says where all of them come from.

    Claims, charts and tables read records of their own, so nobody else knows them all.
    """
    return list(_loaded.values())


def load(
    experiment: str,
    params: Params,
    folder: Path | None = None,
    release: str | None = None,
    before: datetime | None = None,
) -> Record | None:
    """Read the newest record of an experiment with exactly these parameters.

    Parameters
    ----------
    experiment : str
    params : Params
    folder : Path, optional
        Other than data/kernel.
    release : str, optional
        That of a kernel that was not built here; otherwise the laboratory's own runs are read.
    before : datetime, optional
        Leaves out the records made then and later.

    Returns
    -------
    Record or None
        None when there is no such record.

    Raises
    ------
    BadInput
        A record is truncated, was edited, or lacks one of its two files.
    """
    newest = _newest(_home(experiment, folder), params, release, before)
    if newest is None:
        return None
    file, sealed = newest
    csv = file.with_suffix(".csv")
    try:
        text = csv.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{csv} is missing beside its provenance; {_cure(csv)}") from None
    if cache.digest(text) != sealed.counters_sha256:
        raise BadInput(f"{csv} is not what was recorded (its digest differs); {_cure(csv)}")
    counters = pd.read_csv(io.BytesIO(text), keep_default_na=False)
    _loaded[csv] = Record(counters, sealed.provenance)
    return _loaded[csv]


def recorded(experiment: str, model: type[Params], folder: Path | None = None) -> list[Params]:
    """Parameters of every recorded run of an experiment, each once, in the order of the files.

    Only of runs on the laboratory's own kernels, which can be run again anywhere, and whose
    parameters the experiment still takes; the others are named on stderr. Parameters that
    only the model reads make no difference, and have their defaults.
    """
    each: dict[str, Params] = {}
    for file, sealed in _all(_home(experiment, folder)):
        params = _params(file, sealed, model)
        if params is not None and not _own(sealed.provenance.kernel):
            each.setdefault(params.model_dump_json(), params)
    return list(each.values())


def others(
    experiment: str, model: type[Params], folder: Path | None = None
) -> list[tuple[str, Params]]:
    """Release and parameters of every recorded run on a kernel not built here, each once.

    Older releases first; `load` takes them.
    """
    runs: dict[tuple[str, str], tuple[str, Params]] = {}
    for file, sealed in _all(_home(experiment, folder)):
        release, params = _own(sealed.provenance.kernel), _params(file, sealed, model)
        if release is not None and params is not None:
            runs.setdefault((release, params.model_dump_json()), (release, params))
    return sorted(runs.values(), key=lambda run: [int(n) for n in re.findall(r"\d+", run[0])])


def _own(kernel: KernelInfo) -> str | None:
    """The release of a kernel that was not built here."""
    return kernel.release if kernel.digest is None else None


def _newest(
    home: Path, params: Params, release: str | None = None, before: datetime | None = None
) -> tuple[Path, _Sealed[Provenance]] | None:
    of_kernel = for_kernel(params)
    matching = [
        (file, sealed)
        for file, sealed in _all(home)
        if _params(file, sealed, type(params)) == of_kernel
        and _own(sealed.provenance.kernel) == release
        and (before is None or sealed.provenance.date < before)
    ]
    # Of one second, the last has the highest number behind its date.
    return max(
        matching,
        key=lambda pair: (pair[1].provenance.date, len(pair[0].stem), pair[0].stem),
        default=None,
    )


def _all(home: Path) -> list[tuple[Path, _Sealed[Provenance]]]:
    return [(file, unseal(file)) for file in sorted(home.glob("*.json"))]


def unseal(file: Path, of: type[T] = Provenance) -> _Sealed[T]:
    """Read what `sealed()` wrote, or BadInput where it was truncated or edited."""
    try:
        return _unsealed(file.read_text(), of)
    except ValidationError:
        raise BadInput(f"{file}: provenance of another lorelab version; {_cure(file)}") from None
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f"{file} was truncated or edited (its seal is broken); {_cure(file)}"
        ) from None


@functools.cache
def _unsealed(text: str, of: type[T]) -> _Sealed[T]:
    # Each record that is looked for is one of all of its experiment.
    content = json.loads(text)
    seal = content["seal"]
    body = {name: value for name, value in content.items() if name != "seal"}
    if seal != _seal(body):
        raise ValueError
    return _Sealed[of].model_validate(content)


def _seal(body: dict[str, Any]) -> str:
    return cache.digest(json.dumps(body, sort_keys=True))


def _params(file: Path, sealed: _Sealed[Provenance], model: type[Params]) -> Params | None:
    """What a record was asked for; None where the experiment takes that no more.

    Through the model, so that a parameter that was added later has its default.
    """
    try:
        if (sealed.seal, model) not in _requested:
            params = for_kernel(model.of_record(sealed.provenance.params))
            _requested[sealed.seal, model] = params
        return _requested[sealed.seal, model]
    except ValidationError as error:
        if file not in _left_out:
            _left_out.add(file)
            why = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            print(f"{file}: left out, its parameters are taken no more: {why}", file=sys.stderr)
        return None


_requested: dict[tuple[str, type[Params]], Params] = {}
"""What `_params()` gave, by seal."""
_left_out: set[Path] = set()
"""Records that were named on stderr, each once."""


def _home(experiment: str, folder: Path | None) -> Path:
    return (folder or FOLDER) / experiment


def _cure(file: Path) -> str:
    return f"`git checkout` brings {file.stem}.* back, or remove both files and measure again"


def now() -> datetime:
    """The date of a run, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
