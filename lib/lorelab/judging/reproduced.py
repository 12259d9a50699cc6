"""What the reproducer of a finding says of a kernel: before its patches, and with them.

data/reproduced/DESIGN/NAME/KERNEL--DATE.txt has its output, the JSON beside it its provenance,
sealed as a record of counters is (`lorelab.lab.records`).
"""

import platform
import re
import subprocess
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

import lorelab
from lorelab import atomic
from lorelab.errors import BadInput
from lorelab.judging import upstream
from lorelab.judging.findings import Finding
from lorelab.lab import cache, records
from lorelab.lab.boot import Job, Machine
from lorelab.lab.build import KernelInfo
from lorelab.lab.records import Provenance
from lorelab.lab.run import Request, RunOptions, measure
from lorelab.lab.source import is_cover, is_selftest, is_test

FOLDER = records.FOLDER.with_name("reproduced")
SECONDS = 120.0
INTERPRETERS = {".py": ["python3"], ".sh": ["sh"]}
STATUS = {0: "PASS", 1: "FAIL"}
"""What its last line begins with, by how it ends; with another status it has no verdict."""


class Running(BaseModel):
    """The kernel that runs this machine: what it was made of is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    release: str
    """`uname -r`."""


class Here(BaseModel):
    """Where the words of a reproducer came from that ran on this machine, in no guest of ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    params: dict[str, str]
    date: datetime
    lorelab: str
    kernel: Running
    processor: str | None
    """The model name of /proc/cpuinfo, which not every architecture gives."""
    virtual: bool
    """Whether the processor is a virtual machine's, by its own word."""
    seconds: int
    """How long it took."""
    programs: dict[str, str]
    """SHA-256 of the reproducer."""


class UserMode(BaseModel):
    """Where the words of kunit's tests came from, which ran in User-Mode Linux."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    params: dict[str, str]
    date: datetime
    lorelab: str
    kernel: KernelInfo
    command: list[str]


class Answer(NamedTuple):
    """What a reproducer said."""

    text: str
    """Its output, whose last line begins with PASS or FAIL."""
    source: Provenance | Here | UserMode
    patched: bool
    """Whether the kernel was built with the finding's patches."""

    @property
    def verdict(self) -> str:
        """The last line."""
        return self.text.splitlines()[-1]

    @property
    def published(self) -> bool:
        """Whether its program is the kit's; of a bug that users can trigger, one is withheld."""
        shown = upstream.reproducer(self.source.experiment)
        return shown is not None and shown.name == self.source.params["file"]

    @property
    def earlier(self) -> bool:
        """Whether it ran an earlier form of the kit's program, whose notes say how they differ."""
        shown = upstream.reproducer(self.source.experiment)
        return self.published and self.source.programs[shown.name] != cache.file_digest(shown)

    @property
    def kernel(self) -> str:
        """The kernel in words."""
        return f"{self.source.kernel.release}{' with the patches' if self.patched else ''}"

    @property
    def built(self) -> str:
        """The kernel in words, with what else it has: one may be built for several findings."""
        if not self.others:
            return self.kernel
        which = "and those of" if self.patched else "with the patches of"
        return f"{self.kernel} {which} {' and '.join(self.others)}"

    @property
    def others(self) -> list[str]:
        """Other findings of which the kernel has a patch; a test of one changes nothing for it."""
        if not isinstance(self.source, Provenance):
            return []
        names = set(self.source.kernel.patches or ())
        return [
            title
            for title in upstream.kits()
            if title != self.source.experiment
            and any(mail.name in names and not is_test(mail) for mail in upstream.patches(title))
        ]


def run(one: Finding, image: Path) -> Answer:
    """Boot a kernel and run a finding's reproducer on it.

    Parameters
    ----------
    one : Finding
    image : Path
        A kernel as `lorelab.lab.external_kernel` takes it.

    Raises
    ------
    BadInput
        There is no reproducer, no such kernel, or the reproducer can't tell of that kernel.
    RunFailed
        The guest did not come to the end.
    """
    file = _reproducer(one)
    job = Job(None, "reproducer", {"file": file.name}, SECONDS, rows=1)
    request = Request(Machine(cpus=one.cpus, memory_mib=512), job)
    measured = measure(request, RunOptions(image), programs=upstream.kit(one.title))
    [row] = measured.rows
    _check_verdict(file, row["status"], row["said"], row["complained"])
    params = {"file": file.name}
    source = Provenance(experiment=one.title, params=params, run_in_boot=1, **measured.source)
    return Answer(row["said"], source, _patched(one.title, source))


def run_here(one: Finding) -> Answer:
    """Run a finding's reproducer on this machine's own kernel, for as long as it takes.

    Raises
    ------
    BadInput
        There is no reproducer, or it can't tell of this kernel: most take root.
    """
    file = _reproducer(one)
    began = time.monotonic()
    done = subprocess.run([*INTERPRETERS[file.suffix], file], capture_output=True, text=True)
    _check_verdict(file, done.returncode, done.stdout, done.stderr)
    cpus = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)", cpus, re.MULTILINE)
    source = Here(
        experiment=one.title,
        params={"file": file.name},
        date=datetime.now(UTC).replace(microsecond=0),
        lorelab=lorelab.__version__,
        kernel=Running(release=platform.release()),
        processor=model and model[1],
        virtual=" hypervisor" in cpus,
        seconds=round(time.monotonic() - began),
        programs={file.name: cache.file_digest(file)},
    )
    return Answer(done.stdout, source, patched=False)


def _reproducer(one: Finding) -> Path:
    file = upstream.reproducer(one.title)
    if file is None:
        raise BadInput(f"{one.title} has no reproducer")
    return file


def _check_verdict(file: Path, status: int, output: str, complained: str) -> None:
    lines = output.splitlines()
    if not lines or lines[-1][:4] != STATUS.get(status):
        why = " ".join(complained.split())
        raise BadInput(f"{file.name} says neither PASS nor FAIL: {why}")


def save(one: Finding, answer: Answer, folder: Path = FOLDER) -> Path:
    """Keep what a reproducer said, with its provenance; returns the file of the output.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from lorelab.judging.findings import finding
    >>> answer = recorded("gso/one-word-for-many")[0]
    >>> with TemporaryDirectory() as folder:
    ...     save(finding("gso/one-word-for-many"), answer, Path(folder)).name.partition("--")[0]
    '7.3.4'
    """
    which = f"{answer.source.kernel.release}{'-patched' if answer.patched else ''}"
    file = folder / one.title / f"{which}--{answer.source.date:%Y%m%dT%H%M%SZ}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    data = answer.text.encode()
    atomic.write(file, data, new=True)
    atomic.write(file.with_suffix(".json"), records.sealed(answer.source, data), new=True)
    return file


def recorded(title: str, folder: Path = FOLDER) -> list[Answer]:
    """What was kept of the finding `title`: unpatched kernels first, runs of one by their dates.

    Kernels are told apart by all that they were built with.

    Raises
    ------
    BadInput
        A file is missing, truncated or was edited.

    Examples
    --------
    >>> [answer.verdict[:4] for answer in recorded("gso/one-word-for-many")]
    ['FAIL', 'PASS']
    """
    answers = []
    for file in (folder / title).glob("*.json"):
        sealed = records.unseal(file, Provenance | Here | UserMode)
        output = file.with_suffix(".txt")
        data = output.read_bytes() if output.exists() else b""
        if cache.digest(data) != sealed.counters_sha256:
            raise BadInput(f"{output} is not what was recorded; `git checkout` brings it back")
        source = sealed.provenance
        patched = not isinstance(source, Here) and _patched(title, source)
        answers.append(Answer(data.decode(), source, patched))
    return sorted(answers, key=lambda one: (one.patched, one.built, one.source.date))


def newest(title: str, folder: Path = FOLDER) -> list[Answer]:
    """The last run that was kept of each kernel, in the order of `recorded()`.

    Raises
    ------
    BadInput
        A file is missing, truncated or was edited.

    Examples
    --------
    >>> {len(runs) for runs in runs_of(newest("vmalock/lost-guard")).values()}
    {1}
    """
    return [runs[-1] for runs in runs_of(recorded(title, folder)).values()]


def runs_of(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    """Runs of each kernel, in the order given, by the kernel in words and how many they are.

    Those of an earlier form of the reproducer stand apart.

    Examples
    --------
    >>> [before, *_, after] = recorded("gso/one-word-for-many")
    >>> runs = runs_of([before, after, before])
    >>> [len(each) for each in runs.values()], next(iter(runs))
    ([2, 1], '7.3.4, 2 runs')
    """
    kernels: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        how = ", earlier form" if answer.earlier else ""
        kernels.setdefault((answer.built, how), []).append(answer)
    return {
        f"{kernel}, {'one run' if len(runs) == 1 else f'{len(runs)} runs'}{how}": runs
        for (kernel, how), runs in kernels.items()
    }


def by_kernel(answers: Iterable[Answer]) -> dict[str, str]:
    """The last line of each run, by the kernel in words and how many runs it had.

    Examples
    --------
    >>> answers = recorded("damon/pages-on-no-list")
    >>> by_kernel([one for one in answers if one.kernel == "7.3.4"] * 2)
    {'7.3.4, 2 runs': 'FAIL: they were touched by nobody'}
    """
    return {
        kernel: "; ".join(dict.fromkeys(run.verdict for run in runs))
        for kernel, runs in runs_of(answers).items()
    }


def _patched(title: str, source: Provenance | UserMode) -> bool:
    mails = {
        mail.name for mail in upstream.patches(title) if not (is_cover(mail) or is_selftest(mail))
    }
    return mails <= set(source.kernel.patches or ())
