"""Why this machine can't do something that lorelab offers, and the command that lets it."""

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lorelab.lab import boot, build, guest, needs, recipes

KVM = Path("/dev/kvm")
IDS = Path("/etc/subuid")
NAMESPACES = {
    "/proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""Switches of the host, the value that forbids an ordinary user a namespace, and another."""


class Obstacle(NamedTuple):
    """What the reader can't do here, why, and the command that changes it."""

    to: str
    because: str
    command: str


def obstacles() -> list[Obstacle]:
    """All that stands in the way on this machine, in the order in which it would be met."""
    return [Obstacle(to, *reason) for to, why in REASONS for reason in why()]


def _lacking(lists: list[needs.Need]) -> list[tuple[str, str]]:
    if not (lacking := needs.missing(lists)):
        return []
    names = ", ".join(need.what for need in lacking)
    return [(f"{names} not found", needs.command(lacking, needs.system()))]


def _build() -> list[tuple[str, str]]:
    reasons = _lacking(needs.BUILD + needs.GUEST)
    if os.geteuid() == 0:
        return reasons
    user = _user()
    if not has_ids(IDS.read_text() if IDS.exists() else "", user, os.geteuid()):
        how = f"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
        reasons.append(
            (f"{user} has no ids in {IDS}, which the guest's users take", f"as root: {how}")
        )
    for name, (forbids, other) in NAMESPACES.items():
        if (file := Path(name)).exists() and file.read_text().strip() == forbids:
            reasons.append((f"{name} is {forbids}: no namespace without root", _sysctl(other)))
    return reasons


def _sysctl(setting: str) -> str:
    return f"as root: sysctl --write {setting}"


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def has_ids(table: str, user: str, uid: int) -> bool:
    r"""Whether /etc/subuid's text gives a user the 65,536 ids that a Debian root takes.

    Examples
    --------
    >>> has_ids("jane:100000:65536\n", "jane", 1000), has_ids("jane:100000:1\n", "jane", 1000)
    (True, False)
    """
    rows = (line.split(":") for line in table.splitlines() if line.count(":") == 2)
    return any(
        row[0] in (user, str(uid)) and row[2].strip().isdigit() and int(row[2]) >= 1 << 16
        for row in rows
    )


def _live() -> list[tuple[str, str]]:
    if needs.missing(needs.BUILD):  # without these nobody can say what would be built
        return _lacking(needs.BUILD + needs.BOOT)
    reasons = _lacking(needs.BOOT)
    if guest.find() is None or build.find(recipes.recipe()) is None:
        reasons.append(("kernels or guest are not built", ".venv/bin/lorelab lab build"))
    return reasons


def _fast() -> list[tuple[str, str]]:
    if not KVM.exists():
        return [no_kvm(Path("/proc/cpuinfo").read_text())]
    if not os.access(KVM, os.R_OK | os.W_OK):
        return [closed(KVM)]
    if needs.missing(needs.BOOT):
        return []
    if (kept := boot.remembered()).exists() and kept.read_text() == "tcg":
        return [(f"{KVM} opened and ran no guest since this machine booted", f"rm {kept}")]
    return []


def no_kvm(cpuinfo: str) -> tuple[str, str]:
    """Why there is no /dev/kvm, by the flags of /proc/cpuinfo.

    Examples
    --------
    >>> no_kvm("flags : fpu vmx")
    ('/dev/kvm is not there', 'as root: modprobe kvm_intel')
    """
    flags = cpuinfo.split()
    for flag, module in (("vmx", "kvm_intel"), ("svm", "kvm_amd")):
        if flag in flags:
            return f"{KVM} is not there", f"as root: modprobe {module}"
    return (
        f"{KVM} is not there, and the CPU offers no virtualization",
        "none here: it is allowed in the firmware, or by the host of a virtual machine (nested)",
    )


def closed(device: Path) -> tuple[str, str]:
    """Why a /dev/kvm that is there does not open, and the command for its owner's group."""
    state = device.stat()
    try:
        group = grp.getgrgid(state.st_gid).gr_name
    except KeyError:
        group = str(state.st_gid)
    if group == "root" or state.st_mode & 0o060 != 0o060:
        return f"{device} is closed to you", f"as root: chmod a+rw {device}"
    how = f"as root: usermod --append --groups {group} {_user()}; then log in again"
    return f"{device} is open to the group {group} alone", how


REASONS: list[tuple[str, Callable[[], list[tuple[str, str]]]]] = [
    ("build kernels and guest", _build),
    ("run an experiment on a kernel", _live),
    ("run it with KVM, not emulated", _fast),
    ("boot a kernel of my own with modules", lambda: _lacking(needs.OWN)),
    ("print decks and book as PDF", lambda: _lacking(needs.PRINT)),
]
"""What readers ask for, and what looks for reasons why they can't have it."""
