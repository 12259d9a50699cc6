"""What is sent to maintainers: a folder of mails for git send-email, and what shows the defect.

A finding's kit is lib/kernel/DESIGN/upstream/NAME: mails as git format-patch writes them, the
cover letter among them where there are several patches; `recipients`, as get_maintainer.pl of the
source names them; and a reproducer, which needs nothing of this project.
"""

import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

from lorelab.errors import BadInput
from lorelab.judging.findings import Finding
from lorelab.lab.cache import KERNEL_FILES
from lorelab.lab.source import is_stable

SOURCES = {False: "linux-source-7.3 (7.3.4)", True: "linux-source-6.12 (6.12.117)"}
"""Debian's package that patches are made for: those for mainline, and those for its stable series,
as the subject says: [PATCH 6.12.y]."""
SENDER = "YOUR NAME <you@example.org>"
"""Stands where whoever sends it signs off."""
WIDTH = 72


def kit(title: str) -> Path:
    """The folder of the kit of a finding `title` (`design/name`); there may be none.

    Examples
    --------
    >>> kit("damon/shared-last-count").relative_to(KERNEL_FILES)
    PosixPath('damon/upstream/shared-last-count')
    """
    design, name = title.split("/")
    return KERNEL_FILES / design / "upstream" / name


def patches(title: str) -> list[Path]:
    """The mails of a finding, the cover letter first.

    Examples
    --------
    >>> [mail.name[:4] for mail in patches("damon/shared-last-count")]
    ['0000', '0001', '0002', '0003']
    """
    return sorted(kit(title).glob("*.patch"))


def reproducer(title: str) -> Path | None:
    """What says PASS or FAIL of a kernel.

    Examples
    --------
    >>> reproducer("damon/shared-last-count").name
    'reproduce.sh'
    """
    return next(iter(kit(title).glob("reproduce.*")), None)


def write(one: Finding, folder: Path, seen: Sequence[str] = ()) -> list[Path]:
    """Write what is sent of a finding into a new folder.

    Parameters
    ----------
    one : Finding
    folder : Path
        Is made; it may be there, but must be empty.
    seen : sequence of str, optional
        What the reproducer said, a kernel each (`lorelab.judging.reproduced`).

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    BadInput
        There is no patch of the finding, or the folder has something in it.
    """
    mails = patches(one.title)
    if not mails:
        raise BadInput(f"{one.title} has no patch to send; what would fix it: {one.fix}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise BadInput(f"-o {folder}: is a file, or below one; give a folder") from None
    if any(folder.iterdir()):
        raise BadInput(f"-o {folder}: is not empty; give a new folder")
    to = (kit(one.title) / "recipients").read_text()
    written = []
    for number, mail in enumerate(mails):
        notes = _notes(one, seen) if number == 0 else ""
        written.append(folder / mail.name)
        written[-1].write_text(_addressed(mail.read_text(), to, notes))
    if shown := reproducer(one.title):
        written.append(Path(shutil.copy(shown, folder)))
    written.append(folder / "README")
    written[-1].write_text(_readme(one, written))
    return written


def _addressed(mail: str, to: str, notes: str) -> str:
    """A mail with its recipients, and what is said of it below the line that git drops."""
    head, body = mail.split("\n\n", 1)
    text, line, diff = body.partition("\n---\n")
    return f"{head}\n{to}\n{text}{line}{notes}{diff}"


def _notes(one: Finding, seen: Sequence[str]) -> str:
    parts = {
        "Measured": one.effect(),
        **({"Reproducer": "; ".join(seen)} if seen else {}),
        "Known": one.prior_art.text,
        "In mainline": one.mainline,
    }
    paragraphs = (textwrap.fill(f"{name}: {text}", WIDTH) for name, text in parts.items())
    return "\n\n".join(paragraphs) + "\n\n"


def _readme(one: Finding, written: list[Path]) -> str:
    mails = [file.name for file in written if file.suffix == ".patch"]
    shown = reproducer(one.title)
    steps = [
        f"{one.title}: {one.defect}",
        f"The patches are for {SOURCES[is_stable(patches(one.title)[-1])]}: `patch -p1 <FILE`, or "
        "`git am`, in the order of their numbers (0000 is the cover letter).",
        f"{shown.name}, as root, says FAIL on a kernel that has the defect, and is to say PASS "
        "on one with the patches."
        if shown
        else "There is no reproducer: it was not seen on a running kernel.",
        f"Before sending put your name in the place of {SENDER}, in From and Signed-off-by, and "
        "read what stands below the line `---`: it is for the reader of the mail, not for the log.",
        f"Then: git send-email {' '.join(mails)}",
    ]
    return "\n\n".join(textwrap.fill(step, WIDTH, break_on_hyphens=False) for step in steps) + "\n"
