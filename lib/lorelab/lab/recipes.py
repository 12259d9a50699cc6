"""What a kernel is made of: a source, fragments of a config, patches, and a digest over them.

A design's kernel is Debian's linux-source, lib/kernel/common, and the config and patches of its own
folder, so that nothing of another design's is in it. Its unmodified kernel has the same config and
no patch; designs without a config of their own share one.
"""

import functools
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import cache, needs
from lorelab.lab import source as source_
from lorelab.lab.processes import check_output

UNPACKAGED = "put there by hand"
"""Version of a kernel source that no package manager knows."""

MAKE = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "lorelab",
    "KBUILD_BUILD_HOST": "lorelab",
    # Else it counts the builds of a tree.
    "KBUILD_BUILD_VERSION": "1",
    "LOCALVERSION": "",
}
"""Set so that the image depends on the source, the config, the patches and the compiler only."""


def digest_of(
    source: tuple[str, str, str, str], fragments: list[Path], patches_sha256: str | None
) -> str:
    """The digest of a kernel.

    Parameters
    ----------
    source : tuple of str
        The source's package, its version and digest, and the compiler.
    fragments : list of Path
        What Kconfig merges, in order.
    patches_sha256 : str or None
        Of the patches, if there are any.

    Returns
    -------
    str
        SHA-256 of these and of make's arguments; it names the kernel's folder in the cache.
    """
    parts = (fragment.read_bytes() for fragment in fragments)
    return cache.digest(*source, repr(MAKE), *parts, patches_sha256 or "")


class Recipe(NamedTuple):
    """What goes into a build."""

    design: str | None
    config: str
    package: str
    version: str
    source_sha256: str
    compiler: str
    fragments: list[Path]
    """What Kconfig merges, in order."""
    patches: list[Path]
    source: Path = needs.SOURCE
    """Archive or tree."""

    @property
    def patches_sha256(self) -> str | None:
        if not self.patches:
            return None
        return cache.digest(*(patch.read_bytes() for patch in self.patches))

    @property
    def digest(self) -> str:
        sources = (self.package, self.version, self.source_sha256, self.compiler)
        return digest_of(sources, self.fragments, self.patches_sha256)

    @property
    def folder(self) -> Path:
        return cache.root() / "kernel" / self.digest[:16]

    @property
    def tree(self) -> Path:
        """Where it is built: one tree a config, whose files differ little from design to design.

        A config of the design's own that sets nothing, and only comes with patches, is built where
        the design's kernel is.
        """
        own = self.fragments[-1].parent.name == "configs"
        if own and not settings(self.fragments[-1]):
            name = "lab"
        else:
            name = f"{self.design}-{self.config}" if own else self.config
        if self.source != needs.SOURCE:
            name = f"{name}-{self.package}-{cache.digest(str(self.source))[:8]}"
        return cache.root() / "kernel" / "work" / name


def recipe(
    design: str | None = None,
    config: str | None = None,
    patched: bool = True,
    other: Path | None = None,
    finding: str | None = None,
) -> Recipe:
    """Say what a build would be made of on this machine.

    Parameters
    ----------
    design : str, optional
        Whose kernel; without one it is the unmodified kernel of lib/kernel/common.
    config : str, optional
        A fragment on top: `debug`, `kasan` or `kcsan`, or lib/kernel/DESIGN/configs/CONFIG.config,
        which comes with the patches of configs/CONFIG, if there are any.
    patched : bool
        With the patches of `common` and the design; otherwise the design's unmodified kernel.
    other : Path, optional
        Another source (see `lorelab.lab.source`); the patches are then those of the design's
        `upstream`, and its design's unmodified kernel has those of them that only add tests.
    finding : str, optional
        The name of one: of `upstream` its patches alone.
    """
    needs.check(needs.BUILD)
    if design is not None and design not in cache.designs():
        known = ", ".join(cache.designs())
        raise BadInput(f"unknown design {design}: takes one of {known} (folders of lib/kernel)")
    return Recipe(
        design,
        config or "lab",
        *_machine(other or needs.SOURCE),
        fragments(design, config),
        _wanted(design, config, patched, other, finding) if design is not None else [],
        other or needs.SOURCE,
    )


def _wanted(
    design: str, config: str | None, patched: bool, other: Path | None, finding: str | None
) -> list[Path]:
    if not other:
        return patches(design, config) if patched else []
    mails = upstream(design, *_machine(other)[:2], finding)
    return mails if patched else [mail for mail in mails if source_.is_test(mail)]


def upstream(design: str, package: str, version: str, finding: str | None = None) -> list[Path]:
    """A design's patches for mainline, and for the stable series of a source, if it is one's.

    Parameters
    ----------
    design : str
    package, version : str
        As `Recipe` has them: of linux-source-6.12 and of a tree of 6.12.117 the series is 6.12.
    finding : str, optional
        Without one, patches of all.

    Returns
    -------
    list of Path
        In order, without cover letters and selftests, of which a kernel has nothing.
    """
    release = re.search(r"\d+\.\d+", f"{package} {version}")[0]
    files = sorted((cache.KERNEL_FILES / design / "upstream").glob("*/*.patch"))
    mails = [
        patch
        for patch in files
        if not source_.is_cover(patch)
        and not source_.is_selftest(patch)
        and finding in (None, patch.parent.name)
    ]
    return [mail for mail in mails if source_.series(mail) in (None, release)]


def patches(design: str, config: str | None = None) -> list[Path]:
    """The patches of a kernel, in order: of `common`, the design, and the design's config.

    A design with none of its own needs no switch: its kernel is the unmodified one.
    """
    common = cache.files(None, "patches/*.patch")
    own = cache.files(design, "patches/*.patch")[len(common) :]
    own += cache.files(design, f"configs/{config}/*.patch")
    return [*common, *own] if own else []


def recipes(designs: list[str]) -> list[Recipe]:
    """What the kernels of some designs are made of, each once: the unmodified ones come first."""
    plain = [recipe(), *(recipe(design, patched=False) for design in designs)]
    by_digest: dict[str, Recipe] = {}
    for one in [*plain, *(recipe(design) for design in designs)]:
        by_digest.setdefault(one.digest, one)
    return list(by_digest.values())


@functools.cache
def _machine(source: Path) -> tuple[str, str, str, str]:
    """Package, version and digest of the source, and the compiler."""
    compiler = check_output("gcc", "--version").splitlines()[0]
    if source.is_dir():
        return *source_.described(source), compiler
    package = source.name.removesuffix(".tar.xz")
    version = _version(package)
    return package, version, cache.file_digest(source), compiler


def _version(package: str) -> str:
    """Version of a package, or that there is none: on other systems the source is put by hand."""
    if shutil.which("dpkg-query"):
        with suppress(RunFailed):  # Ubuntu has dpkg and not the package
            return check_output("dpkg-query", "--show", "--showformat=${Version}", package)
    return UNPACKAGED


def fragments(design: str | None, config: str | None) -> list[Path]:
    """What Kconfig merges for a kernel, in order.

    Raises
    ------
    BadInput
        There is no such config.
    """
    files = [cache.KERNEL_FILES / "common" / "lab.config", *cache.files(design, "kernel.config")]
    if config is None:
        return files
    further = {file.stem: file for file in (cache.KERNEL_FILES / "common").glob("*.config")}
    del further["lab"]
    further |= {file.stem: file for file in cache.files(design, "configs/*.config")}
    if config not in further:
        known = ", ".join(sorted(further))
        raise BadInput(f"unknown kernel config {config}: takes one of {known}")
    return [*files, further[config]]


def settings(file: Path) -> dict[str, str]:
    """What a .config or a fragment says of each name; `n` where it is not set."""
    options = re.findall(
        r"^(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)$", file.read_text(), flags=re.MULTILINE
    )
    return {name: value or "n" for name, value in options}
