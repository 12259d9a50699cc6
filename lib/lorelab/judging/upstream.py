"""What is sent to maintainers: a folder of mails for git send-email, and what shows the defect.

A finding's kit is lib/kernel/DESIGN/upstream/NAME: mails as git format-patch writes them, the
cover letter among them where there are several; `recipients`, as get_maintainer.pl of the source
names them; a reproducer, which needs nothing of this project, where one may be given; and
`kernel.config` where that takes less than the design's. `NNNN-....message` beside a mail has the
words that are sent in place of the mail's own: a recorded kernel was built with the patch as it
stands, and its digest is over the whole file. `notes` stands below the mail's line `---`, for its
reader: whether it is for stable series, and what tests it. `advice` stands in the README, for the
sender. With them go the config of the kernel that the finding was seen on, and what boots it, of
lib/kernel/common/kit. `tried` is what somebody saw who had the written folder and nothing else of
this project: the day and the machine, a blank line, what the reproducer said without the patches,
a blank line, and what it said with them and no others.
"""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput
from lorelab.judging.findings import Finding
from lorelab.lab import recipes
from lorelab.lab.cache import KERNEL_FILES
from lorelab.lab.source import is_cover, is_stable, is_test

COMMON = KERNEL_FILES / "common" / "kit"
SOURCES = {False: ("linux-source-7.3", "7.3.4"), True: ("linux-source-6.12", "6.12.117")}
"""Debian's package that patches are made for, and its release: those for mainline, and those for
its stable series, as the subject says: [PATCH 6.12.y]."""
SUITES = {
    False: "which trixie-backports has",
    True: "which trixie and bookworm-security have, by now as 6.12.118 or newer",
}
"""Where Debian has that package."""
TOOLS = (
    "gcc make bc bison flex libelf-dev libssl-dev xz-utils patch perl",
    "python3 iproute2 mount e2fsprogs qemu-system-x86",
)
"""Debian's packages that building a kernel takes, and those that running a reproducer takes."""
STABLE = "stable@vger.kernel.org"
SENDER = "YOUR NAME <you@example.org>"
"""Stands where whoever sends it signs off."""
PLACES = ("YOUR NAME", "UPSTREAM MESSAGE")
"""Mark what only whoever sends a mail can fill in."""
SIGNED = f"Signed-off-by: {SENDER}"
ASSISTED = "Assisted-by: LLM"
"""As Documentation/process/coding-assistants.rst of 7.3 asks."""
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


def kits() -> list[str]:
    """Titles of the findings that have a kit.

    Examples
    --------
    >>> "damon/shared-last-count" in kits()
    True
    """
    return [f"{kit.parts[-3]}/{kit.name}" for kit in sorted(KERNEL_FILES.glob("*/upstream/*"))]


def patches(title: str) -> list[Path]:
    """The mails of a finding, the cover letter first.

    Examples
    --------
    >>> [mail.name[:4] for mail in patches("damon/shared-last-count")]
    ['0000', '0001', '0002', '0003']
    """
    return sorted(kit(title).glob("*.patch"))


def mail(file: Path) -> str:
    """A mail as it is sent: the diff of `file`, and the words of its `.message` where there is one.

    Examples
    --------
    >>> [first] = patches("damon/pages-on-no-list")
    >>> mail(first).count("\\n---\\n")
    1
    """
    text = file.read_text()
    message = file.with_suffix(".message")
    if not message.exists():
        return text
    return message.read_text() + "---\n" + text.partition("\n---\n")[2]


def text_of(title: str, name: str) -> str:
    """A text of a kit, `notes` or `advice`; "" where it has none."""
    file = kit(title) / name
    return file.read_text().strip() if file.exists() else ""


def reproducer(title: str) -> Path | None:
    """What says PASS or FAIL of a kernel.

    Examples
    --------
    >>> reproducer("damon/shared-last-count").name
    'reproduce.py'
    """
    return next(iter(kit(title).glob("reproduce.*")), None)


class Trial(NamedTuple):
    """What was seen by somebody who had a written folder, and nothing else of this project."""

    where: str
    """The day, the source and the machine."""
    before: list[str]
    """What the reproducer said without the patches, by lines."""
    after: list[str]
    """What it said with these patches and no others."""


def trial(title: str) -> Trial | None:
    """What was seen when a finding's folder was tried alone; None where it was not.

    Examples
    --------
    >>> trial("gso/one-word-for-many").after[-1]
    'PASS'
    """
    text = text_of(title, "tried")
    if not text:
        return None
    where, before, after = text.split("\n\n")
    return Trial(where, before.splitlines(), after.splitlines())


def places(files: Sequence[Path]) -> dict[str, list[str]]:
    """Names of mails in which a marked place is left, by what marks it.

    Examples
    --------
    >>> places(patches("swap/frag-list-searched-whole"))["UPSTREAM MESSAGE"]
    ['0001-mm-swap-only-scan-one-cluster-in-fragment-list.patch']
    """
    texts = {file.name: mail(file) for file in files if file.suffix == ".patch"}
    left = {place: [name for name, text in texts.items() if place in text] for place in PLACES}
    return {place: names for place, names in left.items() if names}


def write(one: Finding, folder: Path, answers: Sequence[str] = ()) -> list[Path]:
    """Write what is sent of a finding into a new folder.

    Parameters
    ----------
    one : Finding
    folder : Path
        Is made; it may be there, but must be empty.
    answers : sequence of str, optional
        What the reproducer said, a kernel each (`lorelab.judging.reproduced`).

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    BadInput
        There is no patch of the finding, or the folder has something in it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from lorelab.judging.findings import finding
    >>> with TemporaryDirectory() as folder:
    ...     files = write(finding("gso/one-word-for-many"), Path(folder))
    >>> [file.name for file in files[-4:]]
    ['reproduce.py', 'boot.sh', 'kernel.config', 'README']
    """
    mails = patches(one.title)
    if not mails:
        raise BadInput(f"{one.title} has no patch to send; what would fix it: {one.fix}")
    # All of it before the folder is made: what it costs is computed, and may be refused.
    texts = _texts(one, mails, answers)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise BadInput(f"-o {folder}: is a file, or below one; give a folder") from None
    except OSError as error:
        raise BadInput(f"-o {folder}: {error.strerror}; give another folder") from None
    if any(folder.iterdir()):
        raise BadInput(f"-o {folder}: is not empty; give a new folder")
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


def _texts(one: Finding, mails: list[Path], answers: Sequence[str]) -> dict[str, str]:
    """What is in the folder, by name."""
    to = (kit(one.title) / "recipients").read_text()
    notes = _notes(one, answers)
    shown = reproducer(one.title)
    return {
        **{
            file.name: _addressed(mail(file), to, "" if number else notes)
            for number, file in enumerate(mails)
        },
        **({file.name: file.read_text() for file in (shown, COMMON / "boot.sh")} if shown else {}),
        "kernel.config": _config(one),
        "README": _readme(one),
    }


def _config(one: Finding) -> str:
    """What is merged into `make tinyconfig`."""
    options: dict[str, str] = {}
    design = recipes.fragments(one.design, one.config)
    own = sorted(kit(one.title).glob("kernel.config"))
    for fragment in (*design, *own, COMMON / "kernel.config"):
        options |= recipes.settings(fragment)
    return "".join(
        f"# {name} is not set\n" if value == "n" else f"{name}={value}\n"
        for name, value in options.items()
    )


def _addressed(mail: str, to: str, notes: str) -> str:
    """A mail with its recipients, who helped, and what is said of it below the line git drops."""
    head, body = mail.split("\n\n", 1)
    text, line, diff = body.partition("\n---\n")
    helped = text.replace(SIGNED, f"{ASSISTED}\n{SIGNED}")
    return f"{head}\n{to}\n{helped}{line}{notes}{diff}"


def _notes(one: Finding, answers: Sequence[str]) -> str:
    alone = trial(one.title)
    parts = {
        "Measured": one.effect(),
        **({"Reproducer": "; ".join(answers)} if answers else {}),
        **({"With these patches and no others": _in_short(alone)} if alone else {}),
        "Known": one.prior_art.text,
        "In mainline": one.mainline,
    }
    paragraphs = [f"{name}: {text}" for name, text in parts.items()]
    paragraphs += filter(None, text_of(one.title, "notes").split("\n\n"))
    return "\n\n".join(map(_laid_out, paragraphs)) + "\n\n"


def _in_short(alone: Trial) -> str:
    return f"{alone.where}. Without: {alone.before[-1]}. With: {alone.after[-1]}"


def _readme(one: Finding) -> str:
    mails = patches(one.title)
    package, release = SOURCES[is_stable(mails[-1])]
    suite = SUITES[is_stable(mails[-1])]
    tests = [mail.name for mail in mails if not is_cover(mail) and is_test(mail)]
    mended = [mail.name for mail in mails if not is_cover(mail) and mail.name not in tests]
    shown = reproducer(one.title)
    cpus = f" {one.cpus}" if one.cpus > 1 else ""
    make = "make O=$KIT/objects -j$(nproc) bzImage"
    boot = f"sh $KIT/boot.sh $KIT/objects/arch/x86/boot/bzImage{cpus}"
    before, seen = [_applying(tests)] if tests else [], []
    if shown:
        title, does = (
            "1. SEE IT",
            (
                f"Run as root, {shown.name} ends with FAIL on a kernel that has the defect, and "
                "with PASS on one with the patches. What follows builds both and boots them in "
                "QEMU; where there is KVM, ACCEL=kvm before sh makes that faster."
            ),
        )
        build = (make, boot)
        seen = [
            "The reproducer's last line begins with FAIL. With the patches it is to be PASS:",
            (_applying(mended), *build),
        ]
    else:
        title, does = (
            "1. BUILD IT",
            (
                "No reproducer is in this folder: why, and what was run, stands below. What "
                "follows builds a kernel with the patches."
            ),
        )
        build = (make,)
        before = [_applying([*tests, *mended])]
    parts = [
        *([f"NOT READY TO BE SENT: {one.not_ready}."] if one.not_ready else []),
        f"{one.title}: {one.defect}",
        f"Who is hurt: {one.hurts}",
        title,
        f"{does} It takes the source of Linux, and of Debian's packages",
        TOOLS,
        f"The patches are for {release}, Debian's {package}, {suite}; a tree of your own goes to "
        "source. Begin in the folder of this file, whose path has no space in it. olddefconfig "
        "warns of each symbol that kernel.config sets again, which is meant.",
        (
            "KIT=$PWD",
            "mkdir source objects",
            f"tar -xf /usr/src/{package}.tar.xz -C source --strip-components=1",
            "cd source",
            *before,
            "make O=$KIT/objects tinyconfig",
            "cat $KIT/kernel.config >>$KIT/objects/.config",
            "make O=$KIT/objects olddefconfig",
            *build,
        ),
        *seen,
        *_tried(trial(one.title)),
        *([one.note] if one.note else []),
    ]
    return "\n\n".join(map(_laid_out, [*parts, *_sending(one, mails)])) + "\n"


def _tried(alone: Trial | None) -> list[str | Sequence[str]]:
    """What to expect, in paragraphs."""
    if alone is None:
        return []
    return [
        "This was seen by somebody who had this folder, the source and these packages, and nothing "
        f"else of the project that wrote it ({alone.where}). Without the patches:",
        alone.before,
        "With these patches and no others:",
        alone.after,
    ]


def _sending(one: Finding, mails: list[Path]) -> list[str | Sequence[str]]:
    """How the mails are sent, in paragraphs."""
    picked = re.search(r"^commit (\w{12})\w{28} upstream\.$", mail(mails[-1]), re.MULTILINE)
    return [
        "2. SEND IT",
        *filter(None, text_of(one.title, "advice").split("\n\n")),
        "To and Cc in each mail are "
        + (
            f"{_to_stable(one)}whom MAINTAINERS of {SOURCES[False][1]} names for the code; this "
            "source's own names fewer. "
            if is_stable(mails[-1])
            else "what scripts/get_maintainer.pl says of the source above, and in some who wrote "
            "or discussed the commit that is fixed. "
        )
        + "Maintainers may want the patches made for a newer tree, which the command below names: "
        "run it there as well, and apply, build and boot the patches again.",
        ("scripts/get_maintainer.pl --scm $KIT/0001-*.patch",),
        f"{SENDER} stands where you sign off, which says that you may pass it on "
        "(Documentation/process/submitting-patches.rst). Put your name there, and read each mail "
        "as yours: what stands below its line `---` is for its reader and not for the log. A "
        "language model helped to find and to write this, which `Assisted-by: LLM` says; what that "
        "asks of you is in Documentation/process/generated-content.rst and coding-assistants.rst. "
        "Outside a clone of Linux checkpatch does not know the commits that a mail names, and says "
        "so of each"
        + (
            f"; and it wants `commit {picked[1]}... upstream.`, which the rules of stable series "
            "ask for, in another form."
            if picked
            else "."
        )
        + (
            f" The checkpatch of {SOURCES[True][1]} warns of each Assisted-by besides, for it "
            "wants an agent's name and its model's version there, with a colon between; "
            f"{SOURCES[False][1]} asks for `LLM`, which stands."
            if is_stable(mails[-1])
            else ""
        ),
        "Sending takes Debian's package git-email, and that git config has your name and address: "
        "the second line prints both, and nothing is changed where it does not. Then the last but "
        "one names the mails in which a marked place is left, and nothing is sent.",
        (
            "cd $KIT",
            "git config user.name && git config user.email &&",
            'sed -i "s/YOUR NAME/$(git config user.name)/" *.patch &&',
            'sed -i "s/you@example.org/$(git config user.email)/" *.patch',
            "source/scripts/checkpatch.pl --strict 000[1-9]-*.patch",
            "! grep -l -e '" + "' -e '".join(PLACES) + "' *.patch &&",
            f"git send-email {' '.join(f'{mail.name[:4]}-*.patch' for mail in mails)}",
        ),
    ]


def _to_stable(one: Finding) -> str:
    """Not all go there: a fix of performance is for a distribution's maintainer to submit."""
    return f"{STABLE}, and " if STABLE in (kit(one.title) / "recipients").read_text() else ""


def _applying(names: Sequence[str]) -> str:
    return f"cat {' '.join(f'$KIT/{name[:4]}-*.patch' for name in names)} | patch -p1"


def _laid_out(part: str | Sequence[str]) -> str:
    """A paragraph, or lines to type."""
    if isinstance(part, str):
        return textwrap.fill(part, WIDTH, break_on_hyphens=False)
    return "\n".join(f"    {line}" for line in part)
