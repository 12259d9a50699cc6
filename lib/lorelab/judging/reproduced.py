"""What the reproducer of a finding says of a kernel: before its patches, and with them.

data/reproduced/DESIGN/NAME/KERNEL--DATE.txt has its output, the JSON beside it its provenance,
sealed as a record of counters is (`lorelab.lab.records`).
"""

from pathlib import Path
from typing import NamedTuple

from lorelab import atomic
from lorelab.errors import BadInput
from lorelab.judging import upstream
from lorelab.judging.findings import Finding
from lorelab.lab import cache, records
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Provenance
from lorelab.lab.run import Request, RunOptions, measure

FOLDER = records.FOLDER.with_name("reproduced")
SECONDS = 120.0


class Said(NamedTuple):
    """What a reproducer said."""

    text: str
    """Its output, whose last line begins with PASS or FAIL."""
    source: Provenance
    patched: bool
    """Whether the kernel had the finding's patches."""

    @property
    def verdict(self) -> str:
        """The last line."""
        return self.text.splitlines()[-1]

    @property
    def kernel(self) -> str:
        """The kernel in words."""
        return f"{self.source.kernel.release}{' with the patches' if self.patched else ''}"


def run(one: Finding, image: Path) -> Said:
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
    file = upstream.reproducer(one)
    if file is None:
        raise BadInput(f"{one.title} has no reproducer")
    job = Job(None, "reproducer", {"file": file.name}, SECONDS, rows=1)
    request = Request(Machine(memory_mib=512), job)
    measured = measure(request, RunOptions(image), programs=upstream.kit(one))
    [row] = measured.rows
    said = row["said"].splitlines()
    # 0 and 1 are verdicts; with another status it has none.
    if not said or said[-1][:4] != {0: "PASS", 1: "FAIL"}.get(row["status"]):
        raise BadInput(f"{file.name} says neither PASS nor FAIL: {row['complained'].strip()}")
    given = {"file": file.name}
    source = Provenance(experiment=one.title, params=given, run_in_boot=1, **measured.source)
    return Said(row["said"], source, _patched(one, source))


def save(one: Finding, said: Said, folder: Path = FOLDER) -> Path:
    """Keep what a reproducer said, with its provenance; returns the file of the output."""
    which = f"{said.source.kernel.release}{'-patched' if said.patched else ''}"
    file = folder / one.title / f"{which}--{said.source.date:%Y%m%dT%H%M%SZ}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    data = said.text.encode()
    atomic.write(file, data, new=True)
    atomic.write(file.with_suffix(".json"), records.sealed(said.source, data), new=True)
    return file


def recorded(one: Finding, folder: Path = FOLDER) -> list[Said]:
    """What was kept of a finding, the newest of each kernel: unpatched ones first.

    Raises
    ------
    BadInput
        A file is missing, truncated or was edited.
    """
    found: dict[str, Said] = {}
    for file in sorted((folder / one.title).glob("*.json"), key=lambda file: file.stem[-16:]):
        sealed = records.unseal(file)
        output = file.with_suffix(".txt")
        data = output.read_bytes() if output.exists() else b""
        if cache.digest(data) != sealed.counters_sha256:
            raise BadInput(f"{output} is not what was recorded; `git checkout` brings it back")
        said = Said(data.decode(), sealed.provenance, _patched(one, sealed.provenance))
        found[said.kernel] = said
    return sorted(found.values(), key=lambda said: (said.patched, said.kernel))


def _patched(one: Finding, source: Provenance) -> bool:
    mails = {mail.name for mail in upstream.patches(one) if mail.name[:4] != "0000"}
    return mails <= set(source.kernel.patches or ())
