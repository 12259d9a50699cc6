"""The guest: a Debian root file system, and the programs that run in it."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import build, cache, needs, recipes
from lorelab.lab.processes import check_output, run_logged

SUITE = "trixie"
PACKAGES = (
    "damo",
    "ethtool",
    "fio",
    "iproute2",
    "procps",
    "python3-bpfcc",
    "xz-utils",
)
COMMAND = (
    "mmdebstrap",
    "--variant=minbase",
    f"--include={','.join(PACKAGES)}",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    # Where a run's job is mounted; the root itself stays read-only.
    "--customize-hook=mkdir $1/lab",
    SUITE,
)
OPEN = ("chmod", "-R", "a+rX,ug-s")
"""What a guest gets that another than root makes, who is no owner of its files.

In it mount, which is set-user-ID, would be their owner's and mount nothing; out of it this user
could not write to a disk what is not for others to read.
"""
ALONE = (
    *("setpriv", "--pdeathsig", "KILL", "--"),
    *("unshare", "--fork", "--pid", "--mount-proc", "--kill-child", "--"),
)
"""Before a command: all that it started and mounted goes when lorelab does, however that ends."""
ROOM_MIB = 1200
"""Packages, their unpacked files and mmdebstrap's temporary copy."""


class GuestInfo(BaseModel):
    """What a guest was made of, for the provenance of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    packages: dict[str, str]
    """Version of every installed package."""
    digest: str
    """Of the package versions."""


class Guest(NamedTuple):
    """A root file system and what it was made of."""

    root: Path
    info: GuestInfo


def find() -> Guest | None:
    """The finished guest, if the cache has it."""
    folder = _folder()
    try:
        info = GuestInfo.model_validate_json((folder / "guest.json").read_text())
    except (OSError, ValueError):  # not there, or cut
        return None
    return Guest(folder / "root", info)


def built() -> Guest:
    """The finished guest, or BadInput with the command that makes it."""
    guest = find()
    if guest is None:
        raise BadInput("the guest is not built yet; run: lorelab lab build")
    return guest


def build_root() -> Guest:
    """Build the guest's root file system, or take it from the cache."""
    if guest := find():
        return guest
    needs.check(needs.GUEST)
    folder = _folder()
    cache.need_room(folder, ROOM_MIB)
    with cache.locked(folder):
        if guest := find():
            return guest
        root, new, log = folder / "root", folder / "root.part", folder / "build.log"
        remove(new)
        log.write_text("")
        try:
            with atomic.folder(folder) as scratch:
                there = {**os.environ, "TMPDIR": str(scratch)}
                command = [*_alone(), *COMMAND, str(new)]
                run_logged(f"guest: installing {SUITE}", command, log, env=there)
            if os.geteuid() != 0:
                check_output("mmdebstrap", "--unshare-helper", *OPEN, str(new))
        except BaseException:
            remove(new)
            raise
        packages = _installed(new / "var/lib/dpkg/status")
        _image(root).unlink(missing_ok=True)
        remove(root)
        new.rename(root)
        parts = [f"{name} {version}" for name, version in packages.items()]
        info = GuestInfo(suite=SUITE, packages=packages, digest=cache.digest(*parts))
        # Last, and in one step: a guest without this file is one that was interrupted.
        atomic.write(folder / "guest.json", info.model_dump_json(indent=2) + "\n")
        return Guest(root, info)


def remove(folder: Path) -> None:
    """Remove a folder of a guest, or with one in it.

    What mmdebstrap makes for who is not root belongs to users of a namespace, and only there it
    can be removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and os.geteuid() != 0:
        with suppress(RunFailed):  # it may not remove the folder itself, but all that is in it
            check_output("mmdebstrap", "--unshare-helper", "rm", "-rf", str(folder))
        shutil.rmtree(folder, ignore_errors=True)


def disk(root: Path) -> Path:
    """The guest's root as an ext4 image, made once, for kernels that can't mount a folder.

    One that was cut short is made anew.
    """
    image = _image(root)
    with cache.locked(root.parent):
        if not image.exists() or image.stat().st_size != ROOM_MIB << 20:
            cache.need_room(root.parent, ROOM_MIB)
            make_disk(root, image, ROOM_MIB)
    return image


def make_disk(folder: Path, image: Path, mib: int = 64) -> None:
    """Write the files of `folder` into a new ext4 image of `mib` MiB, most of them sparse.

    Raises
    ------
    RunFailed
        They do not fit, or the disk is full; no image is left.
    """
    part = image.with_name(image.name + ".part")
    mke2fs = ["/usr/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal"]
    try:
        check_output(*mke2fs, "-d", str(folder), str(part), f"{mib}M")
        part.replace(image)
    finally:
        part.unlink(missing_ok=True)


def build_programs(kernel: recipes.Recipe) -> Path | None:
    """Compile the guest programs of a recipe's design, some of them out of the kernel's tree.

    Returns
    -------
    Path or None
        Their folder; None where the design has none.
    """
    folder = _programs(kernel)
    if folder is None:
        return None
    needs.check(needs.BUILD)
    out = folder / "bin"
    if out.exists():
        return out
    with cache.locked(folder):
        log = folder / "build.log"
        log.write_text("")
        source = build.source_tree(kernel)
        here = cache.KERNEL_FILES / kernel.design / "guest"
        with atomic.folder(folder) as there:
            part = there / out.name
            part.mkdir()
            make = ["make", "-C", str(here), f"KERNEL={source}", f"OUT={part}"]
            run_logged(f"guest: compiling the programs of {kernel.design}", make, log)
            if not out.exists():
                part.rename(out)
    return out


def programs(kernel: recipes.Recipe) -> Path | None:
    """Folder of a design's compiled guest programs, or BadInput with the command that makes it."""
    folder = _programs(kernel)
    if folder is None:
        return None
    if not (folder / "bin").exists():
        raise BadInput(
            f"the guest's programs are not built yet; run: lorelab lab build {kernel.design}"
        )
    return folder / "bin"


def _image(root: Path) -> Path:
    return root.with_name("root.ext4")


def _alone() -> tuple[str, ...]:
    """`ALONE` where this user may: who is not root has mmdebstrap mount in a namespace anyway."""
    try:
        check_output(*ALONE, "true")
    except RunFailed:
        return ()
    return ALONE


def _folder() -> Path:
    command = COMMAND if os.geteuid() == 0 else (*COMMAND, *OPEN)
    return cache.root() / "guest" / cache.digest(*command)[:16]


def _programs(kernel: recipes.Recipe) -> Path | None:
    """Where a design's programs go: a folder named after what they are made of."""
    own = cache.KERNEL_FILES / kernel.design / "guest" if kernel.design else None
    if own is None or not (own / "Makefile").exists():
        return None
    sources = [file for end in ("*.[ch]", "*.mk") for file in cache.files(None, f"guest/{end}")]
    sources += [own / "Makefile", *sorted(own.glob("*.[ch]"))]
    parts = [part for path in sources for part in (path.name, path.read_bytes())]
    digest = cache.digest(kernel.source_sha256, kernel.compiler, *parts)
    return cache.root() / "programs" / digest[:16]


def _installed(status: Path) -> dict[str, str]:
    packages = re.findall(
        r"^Package: (.*)\n(?:.+\n)*?Version: (.*)$", status.read_text(), re.MULTILINE
    )
    return dict(sorted(packages))
