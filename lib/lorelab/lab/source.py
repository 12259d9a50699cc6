"""Other sources than Debian's 6.12 to build a kernel from: a newer package, a reader's own tree.

The laboratory's series is for 6.12 alone; such a kernel has the design's config, and the patches
that are for the maintainers if they are asked for. Names of the config that its Kconfig no longer
has are named and left out, but for those that the guest's root or a probe needs.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lorelab.errors import BadInput
from lorelab.lab import cache, needs
from lorelab.lab.processes import run_logged

PARTS = ("Makefile", "Kconfig", "scripts/kconfig/merge_config.sh")
"""What a tree of Linux has."""
VERSION = ("VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION")
NEEDED = {
    f"CONFIG_{name}"
    for name in (
        *("9P_FS", "NET_9P_VIRTIO", "VIRTIO_PCI", "VIRTIO_CONSOLE", "OVERLAY_FS", "DEVTMPFS"),
        *("BPF_SYSCALL", "KPROBES", "DEBUG_INFO_BTF", "IKHEADERS"),
    )
}
"""The transport of the guest's root, and what a probe stands on."""


def find(word: str) -> Path:
    """The archive or tree that `--source` means.

    Parameters
    ----------
    word : str
        A release, such as 7.3, whose package is installed; or a folder.

    Raises
    ------
    BadInput
        There is no such archive, or the folder is no tree of Linux.
    """
    if re.fullmatch(r"\d+\.\d+", word):
        archive = needs.SOURCE.with_name(f"linux-source-{word}.tar.xz")
        if not archive.exists():
            raise BadInput(
                f"--source {word}: {archive} is not here; {needs.source_of(word, needs.system())}"
            )
        return archive
    tree = Path(word).resolve()
    lacking = [part for part in PARTS if not (tree / part).is_file()]
    if lacking:
        raise BadInput(
            f"--source {word}: no tree of Linux, for it has no {', '.join(lacking)}; takes one, or "
            "a release such as 7.3 whose linux-source is installed"
        )
    if (tree / ".config").exists():
        raise BadInput(f"--source {word}: was built in place; run make mrproper there first")
    return tree


def described(tree: Path) -> tuple[str, str, str]:
    """What a tree is called, its version, and a digest of all its files.

    Raises
    ------
    BadInput
        Its Makefile names no version.
    """
    text = (tree / "Makefile").read_text(errors="replace")
    matches = [re.search(rf"^{name} = *(\S*)$", text, re.MULTILINE) for name in VERSION]
    if None in matches:
        raise BadInput(f"--source {tree}: its Makefile names no version of Linux")
    major, minor, patch, extra = (match[1] for match in matches)
    whole = hashlib.sha256()
    for file in _files(tree):
        what = str(file.readlink()) if file.is_symlink() else cache.file_digest(file)
        whole.update(f"{file.relative_to(tree)}\0{what}\n".encode())
    return "tree", f"{major}.{minor}.{patch}{extra}", whole.hexdigest()


def unpack(source: Path, into: Path, log: Path) -> None:
    """Lay the files of an archive or a tree out in an empty folder."""
    if source.is_dir():
        copy = ["rsync", "-rlpt", "--exclude=/.git", f"{source}/", f"{into}/"]
        run_logged("kernel: copying the tree", copy, log)
    else:
        tar = ["tar", "-xf", str(source), "-C", str(into), "--strip-components=1"]
        run_logged("kernel: unpacking the source", tar, log)


def series(mail: Path) -> str | None:
    """The stable series that a patch is for, 6.12 by its subject's [RFC PATCH 6.12.y], or none."""
    subject = re.compile(r"^Subject: \[(?:RFC )?PATCH (\d+\.\d+)\.y", re.MULTILINE)
    match = subject.search(mail.read_text())
    return match and match[1]


def is_stable(mail: Path) -> bool:
    """Whether a patch is for a stable series."""
    return series(mail) is not None


def is_cover(mail: Path) -> bool:
    """Whether a mail is the cover letter of a series, which changes nothing.

    Examples
    --------
    >>> is_cover(Path("0000-cover-letter.patch")), is_cover(Path("0001-mm-swap.patch"))
    (True, False)
    """
    return mail.name.startswith("0000-")


def is_test(mail: Path) -> bool:
    """Whether a patch changes only tests: what it shows is there before the others and after."""
    changed = re.findall(r"^\+\+\+ b/(\S+)", mail.read_text(), re.MULTILINE)
    return all("/tests/" in file or "/selftests/" in file for file in changed)


def is_selftest(mail: Path) -> bool:
    """Whether a patch changes only programs that test a kernel, and no kernel."""
    changed = re.findall(r"^\+\+\+ b/(\S+)", mail.read_text(), re.MULTILINE)
    return bool(changed) and all(file.startswith("tools/testing/") for file in changed)


def _files(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        if folder == str(tree) and ".git" in folders:
            folders.remove(".git")
        folders.sort()
        yield from (Path(folder) / name for name in sorted(names))
