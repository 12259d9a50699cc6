"""Build kernels, each once per digest of its parts (`lorelab.lab.recipes`)."""

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import cache, needs
from lorelab.lab import source as source_
from lorelab.lab.processes import check_output, run_logged
from lorelab.lab.recipes import MAKE, Recipe, settings

ROOM_MIB = 6000
"""Unpacked source, objects with debug information and a pristine copy of the source."""

TREES = "/root/.cache/lorelab/kernel/work"
"""What debug information calls the folder of the trees, wherever that is: where the kernels of the
first records were built. The build ID is its hash, and is in the image."""

INLINED = "inlined"
"""Beside the image: functions that the compiler inlined though their source doesn't say so."""


class KernelInfo(BaseModel):
    """What a kernel was made of, for the provenance of a record.

    Of a kernel that a reader built only what its image says is known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    release: str
    """`uname -r`."""
    banner: str | None = None
    """Version string of an image that was not built here: release, builder, package version."""
    package: str | None = None
    package_version: str | None = None
    source_sha256: str | None = None
    config: str | None = None
    """`lab`, or the name of a fragment on top of it."""
    design: str | None = None
    """Whose config and patches it has; None for the unmodified kernel of `common` alone."""
    config_sha256: str | None = None
    """Of the whole .config that came out of Kconfig."""
    patches: list[str] | None = None
    patches_sha256: str | None = None
    """None for an unmodified source."""
    compiler: str | None = None
    image_sha256: str
    digest: str | None = None
    """Of everything above that goes in: the name of the build in the cache."""


class Kernel(NamedTuple):
    """A bootable image and what it was made of."""

    image: Path
    info: KernelInfo
    modules: Path | None = None
    """Folder of the modules without which it has no road to the guest's root."""


def find(made: Recipe) -> Kernel | None:
    """The finished build of `made`, if the cache has it and its image is the one that was built."""
    image = made.folder / "bzImage"
    try:
        info = KernelInfo.model_validate_json((made.folder / "kernel.json").read_text())
        whole = cache.file_digest(image) == info.image_sha256
    except (OSError, ValueError):
        return None
    return Kernel(image, info) if whole else None


def built(made: Recipe) -> Kernel:
    """The finished build of `made`, or BadInput with the command that makes it."""
    kernel = find(made)
    if kernel is None:
        design = f" {made.design}" if made.design else ""
        config = "" if made.config == "lab" else f" --config {made.config}"
        raise BadInput(f"the kernel is not built yet; run: lorelab lab build{design}{config}")
    return kernel


def build(made: Recipe) -> Kernel:
    """Build a kernel, or take it from the cache; an interrupted build goes on where it stopped.

    Raises
    ------
    BadInput
        Room on the disk is missing.
    RunFailed
        A patch did not apply, Kconfig dropped a line of a fragment, or make failed.
    """
    if kernel := find(made):
        return kernel
    work = made.tree
    if not (work / "objects").exists():
        cache.need_room(work, ROOM_MIB)
    with cache.locked(work):
        if kernel := find(made):
            return kernel
        (work / "build.log").write_text("")
        _unpack(made, work)
        _configure(made, work)
        _forget(made, work / "objects")
        _make(work, "kernel: compiling", "bzImage")
        return _keep(made, work)


def source_tree(made: Recipe) -> Path:
    """The unpacked source, as Debian ships it."""
    with cache.locked(made.tree):
        return _pristine(made, made.tree)


def _pristine(made: Recipe, work: Path) -> Path:
    source, stamp = work / "pristine", work / "pristine.digest"
    if stamp.exists() and stamp.read_text() == made.source_sha256:
        return source
    stamp.unlink(missing_ok=True)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    source_.unpack(made.source, source, work / "build.log")
    stamp.write_text(made.source_sha256)
    return source


def _unpack(made: Recipe, work: Path) -> None:
    source, fresh, stamp = work / "source", work / "fresh", work / "source.digest"
    digest = cache.digest(made.source_sha256, made.patches_sha256 or "")
    if stamp.exists() and stamp.read_text() == digest:
        return
    stamp.unlink(missing_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    log = work / "build.log"
    pristine = _pristine(made, work)
    # Of links: patch(1) writes a new file in the place of each that it changes.
    copy = ["cp", "-al", str(pristine), str(fresh)]
    run_logged("kernel: linking the source", copy, log)
    for patch in made.patches:
        apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", f"--input={patch}"]
        try:
            run_logged(f"kernel: applying {patch.name}", apply, log, cwd=fresh)
        except RunFailed:
            meant = (
                "the series is for the version named in lib/kernel/common/patches/README.md"
                if made.source == needs.SOURCE
                else "it is for Debian's linux-source-7.3"
            )
            raise RunFailed(
                f"{patch.name} does not apply to {made.package} {made.version}; {meant}; see {log}"
            ) from None
    # By content, without the archive's times: make then sees only what a patch really changed.
    update = ["rsync", "-rlp", "--checksum", "--delete", f"{fresh}/", f"{source}/"]
    run_logged("kernel: comparing the source with the last build's", update, log)
    shutil.rmtree(fresh)
    stamp.write_text(digest)


def _configure(made: Recipe, work: Path) -> None:
    objects = work / "objects"
    objects.mkdir(exist_ok=True)
    _make(work, "kernel: configuring", "tinyconfig")
    merge = work / "source" / "scripts" / "kconfig" / "merge_config.sh"
    command = [str(merge), "-m", "-O", str(objects), str(objects / ".config")]
    command += [str(fragment) for fragment in made.fragments]
    run_logged("kernel: configuring", command, work / "build.log", cwd=work / "source")
    _make(work, "kernel: configuring", "olddefconfig")
    result = settings(objects / ".config")
    required = {}
    for fragment in made.fragments:
        required |= settings(fragment)
    dropped = [name for name, value in required.items() if result.get(name, "n") != value]
    if made.source == needs.SOURCE:
        lost = dropped
    else:
        needed = source_.NEEDED.union(*map(settings, made.fragments[1:]))
        lost = [name for name in dropped if name in needed]
        if other := ", ".join(name for name in dropped if name not in needed):
            print(f"{made.version} has no {other} as {made.config}.config wants", file=sys.stderr)
    if lost:
        raise RunFailed(f"{made.config}.config: Kconfig dropped or changed {', '.join(lost)}")


def _forget(made: Recipe, objects: Path) -> None:
    """Take out of a tree what an earlier kernel would leave in this one's archive of headers.

    kernel/gen_kheaders.sh (CONFIG_IKHEADERS) makes the archive anew if a header has another time,
    and does not look at autoconf.h, which is in there: the config would be the earlier one's. And
    utsversion.h, which an image's link writes at its end, is in there if an earlier one did. That
    stays for patched kernels in the tree where the unmodified one is built before them, as the
    records' were; no other has it.
    """
    (objects / "kernel/kheaders.md5").unlink(missing_ok=True)
    if not made.patches or made.tree.name != "lab":
        (objects / "include/generated/utsversion.h").unlink(missing_ok=True)


def _make(work: Path, what: str, target: str) -> None:
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    variables = [f"{name}={value}" for name, value in MAKE.items()]
    command = [
        "nice",
        "make",
        "-C",
        str(work / "source"),
        f"O={work / 'objects'}",
        f"CC={compiler}",
    ]
    renamed = f"-fdebug-prefix-map={work}={TREES}/{work.name}"
    variables += [f"KCFLAGS={renamed}", f"KAFLAGS={renamed}"]
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    run_logged(what, [*command, *variables, jobs, target], work / "build.log")


def _keep(made: Recipe, work: Path) -> Kernel:
    objects = work / "objects"
    part = made.folder.with_name(made.folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    shutil.copy2(objects / "arch/x86/boot/bzImage", part / "bzImage")
    shutil.copy2(objects / ".config", part / "config")
    if "CONFIG_DEBUG_INFO" in settings(objects / ".config"):
        # Only the debug information tells an inlined function from a missing one; a probe asks.
        (part / INLINED).write_text(
            check_output("pfunct", "--cc_inlined", str(objects / "vmlinux")) + "\n"
        )
    info = KernelInfo(
        release=(objects / "include/config/kernel.release").read_text().strip(),
        package=made.package,
        package_version=made.version,
        source_sha256=made.source_sha256,
        config=made.config,
        design=made.design,
        config_sha256=cache.file_digest(part / "config"),
        patches=[patch.name for patch in made.patches],
        patches_sha256=made.patches_sha256,
        compiler=made.compiler,
        image_sha256=cache.file_digest(part / "bzImage"),
        digest=made.digest,
    )
    (part / "kernel.json").write_text(info.model_dump_json(indent=2) + "\n")
    shutil.rmtree(made.folder, ignore_errors=True)
    part.replace(made.folder)
    return Kernel(made.folder / "bzImage", info)
