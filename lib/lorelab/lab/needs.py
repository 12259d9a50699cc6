"""What the laboratory needs of the machine, and the one command that gets it (Debian's names)."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput


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


def command(needs: list[Need]) -> str:
    """The one command that installs the packages of `needs`.

    Examples
    --------
    >>> command([Need("gcc", "gcc", "building"), Need("bc", "bc", "building")])
    'apt-get install --no-install-recommends bc gcc'
    """
    packages = sorted({need.package for need in needs})
    return "apt-get install --no-install-recommends " + " ".join(packages)


def elsewhere(system: str) -> str:
    r"""What a system that is not Debian has to do otherwise; empty on Debian.

    Parameters
    ----------
    system : str
        Text of /etc/os-release.

    Examples
    --------
    >>> elsewhere("ID=debian\n"), elsewhere("ID=fedora\n")[:46]
    ('', "this is fedora, and the names are Debian's: th")
    """
    lines = dict(line.split("=", 1) for line in system.splitlines() if "=" in line)
    name = lines.get("ID", "").strip('"')
    if name in ("", "debian"):
        return ""
    how = (
        "apt-get has the packages under these names, but for linux-source-6.12"
        if name == "ubuntu" or "ubuntu" in lines.get("ID_LIKE", "")
        else "the package manager here knows what has a command or file: "
        "`dnf provides NAME` on Fedora"
    )
    return (
        f"this is {name}, and the names are Debian's: {how}. The kernel's source is in Debian's "
        f"package linux-source-6.12 alone (packages.debian.org): `ar x` it, unpack its data.tar, "
        f"and put {SOURCE.name} into {SOURCE.parent}"
    )


def check(needs: list[Need]) -> None:
    """Raise BadInput naming what is missing and the command that gets it."""
    lacking = missing(needs)
    if lacking:
        names = ", ".join(need.what for need in lacking)
        raise BadInput(f"{names} not found; as root: {command(lacking)}")


def _which(name: str) -> str | None:
    # setpriv and friends may sit in sbin, which an ordinary user's PATH leaves out.
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
