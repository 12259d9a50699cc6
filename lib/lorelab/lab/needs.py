"""What the laboratory needs of the machine, and the command that gets it (Debian's names)."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput

OS_RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


class Need(NamedTuple):
    """One thing the laboratory uses: a command on PATH, or a file, and the package that has it."""

    what: str
    package: str
    use: str

    def here(self) -> bool:
        if self.what.startswith("/"):
            return Path(self.what).exists()
        return _which(self.what) is not None


SOURCE = Path("/usr/src/linux-source-6.12.tar.xz")
"""The kernel's source as Debian ships it; the package is in Debian 12 and 13."""

BUILD = [
    Need(str(SOURCE), "linux-source-6.12", "the kernel's source"),
    Need("gcc", "gcc", "building the kernel"),
    Need("/usr/include/stdlib.h", "libc6-dev", "building the kernel's own tools"),
    Need("make", "make", "building the kernel"),
    Need("bc", "bc", "building the kernel"),
    Need("bison", "bison", "building the kernel"),
    Need("flex", "flex", "building the kernel"),
    Need("/usr/include/libelf.h", "libelf-dev", "building the kernel"),
    Need("pahole", "dwarves", "type information for bcc"),
    Need("perl", "perl", "building the kernel"),
    Need("patch", "patch", "applying lib/kernel/*/patches"),
    Need("cpio", "cpio", "kernel headers inside the kernel, for bcc"),
    Need("rsync", "rsync", "rebuilding only what changed"),
    Need("xz", "xz-utils", "unpacking the source"),
]
GUEST = [
    Need("mmdebstrap", "mmdebstrap", "the guest's files"),
    Need(
        "/usr/share/keyrings/debian-archive-keyring.gpg",
        "debian-archive-keyring",
        "checking the guest's packages",
    ),
]
if os.geteuid() != 0:  # mmdebstrap then makes the guest's users in a namespace
    GUEST.append(Need("newuidmap", "uidmap", "the guest's files, without root"))
BOOT = [
    Need("qemu-system-x86_64", "qemu-system-x86", "the virtual machine"),
    Need("setpriv", "util-linux", "a QEMU that ends when lorelab does"),
]
OWN = [
    Need("busybox", "busybox-static", "--kernel with modules"),
    Need("depmod", "kmod", "--kernel with modules"),
    Need("mke2fs", "e2fsprogs", "--kernel with modules"),
]
PRINT = [Need("chromium", "chromium", "PDFs and the browser tests; not required")]
HELPFUL = [Need("ccache", "ccache", "faster rebuilds; not required")]
ALL = BUILD + GUEST + BOOT + OWN + HELPFUL + PRINT


def missing(needs: list[Need]) -> list[Need]:
    """Those of `needs` that this machine lacks.

    Examples
    --------
    >>> missing([Need("/", "base-files", "everything"), Need("/none", "none", "nothing")])
    [Need(what='/none', package='none', use='nothing')]
    """
    return [need for need in needs if not need.here()]


def system() -> str:
    """Text of os-release, of its second place where the first has none; empty where neither has."""
    for file in OS_RELEASE:
        with suppress(OSError):
            return file.read_text(errors="replace")
    return ""


def family(text: str) -> tuple[str, str]:
    r"""Name of a system, and whose packages it has: `debian`, `ubuntu` (Debian's names), `fedora`.

    Examples
    --------
    >>> family("ID=debian\n"), family('ID=raspbian\nID_LIKE=debian\n')
    (('debian', 'debian'), ('raspbian', 'ubuntu'))
    >>> family('ID="rocky"\nID_LIKE="rhel centos fedora"\n'), family("ID=arch\n")
    (('rocky', 'fedora'), ('arch', ''))
    """
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    name, like = (lines.get(key, "").strip("\"' ") for key in ("ID", "ID_LIKE"))
    if not name:
        name = "a system without os-release"
        like = "debian" if _which("apt-get") else "fedora" if _which("dnf") else ""
    if name == "debian":
        return name, name
    for one, known in (("debian", "ubuntu"), ("ubuntu", "ubuntu"), ("fedora", "fedora")):
        if one in (name, *like.split()):
            return name, known
    return name, ""


def command(needs: list[Need], text: str = "ID=debian") -> str:
    r"""The one command that installs the packages of `needs`, or else what has to be found.

    Parameters
    ----------
    needs : list of Need
    text : str
        Of os-release.

    Examples
    --------
    >>> command([Need("gcc", "gcc", "building"), Need("bc", "bc", "building")])
    'as root: apt-get install --no-install-recommends bc gcc'
    >>> command([Need("gcc", "gcc", "building")], "ID=fedora")
    "as root: dnf install what this names: dnf provides '*bin/gcc'"
    >>> command([Need("gcc", "gcc", "building")], "ID=arch")
    'as root: install what has gcc'
    """
    _, packages = family(text)
    if packages != "debian":  # which alone has the kernel's source
        needs = [need for need in needs if need.what != str(SOURCE)]
        if not needs:
            return f"put {SOURCE.name} of Debian's package linux-source-6.12 into {SOURCE.parent}"
    if packages in ("debian", "ubuntu"):
        names = sorted({need.package for need in needs})
        return "as root: apt-get install --no-install-recommends " + " ".join(names)
    files = [need.what for need in needs]
    if packages == "fedora":
        files = [file if file.startswith("/") else f"'*bin/{file}'" for file in files]
        return f"as root: dnf install what this names: dnf provides {' '.join(files)}"
    return f"as root: install what has {', '.join(files)}"


def source_of(release: str, text: str = "ID=debian") -> str:
    r"""How the source of another release comes here, of which Debian has a package.

    Parameters
    ----------
    release : str
        Such as 7.3.
    text : str
        Of os-release.

    Examples
    --------
    >>> source_of("7.3")
    'as root: apt-get install linux-source-7.3 (trixie-backports has 7.3)'
    >>> source_of("7.3", "ID=fedora")[:58]
    "put linux-source-7.3.tar.xz of Debian's package linux-sour"
    """
    package = f"linux-source-{release}"
    if family(text)[1] == "debian":
        return f"as root: apt-get install {package} (trixie-backports has 7.3)"
    return (
        f"put {package}.tar.xz of Debian's package {package} (packages.debian.org) into "
        f"{SOURCE.parent}, or give a tree of Linux"
    )


def elsewhere(text: str) -> str:
    r"""What a system that is not Debian has to do otherwise; empty on Debian.

    Parameters
    ----------
    text : str
        Of os-release.

    Examples
    --------
    >>> elsewhere("ID=debian\n"), elsewhere("ID=fedora\n")[:46]
    ('', "this is fedora, and the names are Debian's: th")
    """
    name, packages = family(text)
    if packages == "debian":
        return ""
    how = {
        "ubuntu": "apt-get has the packages under these names, but for linux-source-6.12",
        "fedora": "the package manager here knows what has a command or file: `dnf provides NAME`",
        "": "the package manager here knows what has a command or file",
    }
    return (
        f"this is {name}, and the names are Debian's: {how[packages]}. The kernel's source is in "
        f"Debian's package linux-source-6.12 (packages.debian.org): `ar x` it, unpack its "
        f"data.tar, and put {SOURCE.name} into {SOURCE.parent}"
    )


def check(needs: list[Need]) -> None:
    """Raise BadInput naming what is missing and the command that gets it."""
    lacking = missing(needs)
    if lacking:
        names = ", ".join(need.what for need in lacking)
        raise BadInput(f"{names} not found; {command(lacking, system())}")


def _which(name: str) -> str | None:
    # setpriv and friends may sit in sbin, which an ordinary user's PATH leaves out.
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
