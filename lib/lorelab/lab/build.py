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

USER_MODE = "".join(
    f"CONFIG_{name}=y\n"
    for name in ("64BIT", "KUNIT_DEFAULT_ENABLED", "KUNIT_AUTORUN_ENABLED", "STDERR_CONSOLE")
)
"""What User-Mode Linux takes besides, to run kunit's tests and to say what they say."""

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
    """Folder of the modules without which it does not reach the guest's root."""


def find(recipe: Recipe) -> Kernel | None:
    """The finished build of a recipe, if the cache has it, and its image is what was built."""
    image = recipe.folder / "bzImage"
    try:
        info = KernelInfo.model_validate_json((recipe.folder / "kernel.json").read_text())
        whole = cache.file_digest(image) == info.image_sha256
    except (OSError, ValueError):
        return None
    return Kernel(image, info) if whole else None


def built(recipe: Recipe) -> Kernel:
    """The finished build of `recipe`, or BadInput with the command that makes it."""
    kernel = find(recipe)
    if kernel is None:
        design = f" {recipe.design}" if recipe.design else ""
        config = "" if recipe.config == "lab" else f" --config {recipe.config}"
        raise BadInput(f"the kernel is not built yet; run: lorelab lab build{design}{config}")
    return kernel


def build(recipe: Recipe) -> Kernel:
    """Build a kernel, or take it from the cache; an interrupted build goes on where it stopped.

    Raises
    ------
    BadInput
        Room on the disk is missing.
    RunFailed
        A patch did not apply, Kconfig dropped a line of a fragment, or make failed.
    """
    if kernel := find(recipe):
        return kernel
    work = recipe.tree
    if not (work / "objects").exists():
        cache.need_room(work, ROOM_MIB)
    with cache.locked(work):
        if kernel := find(recipe):
            return kernel
        (work / "build.log").write_text("")
        _unpack(recipe, work)
        _configure(recipe, work)
        _forget(recipe, work / "objects")
        _make(work, "kernel: compiling", "bzImage")
        return _keep(recipe, work)


def user_mode(recipe: Recipe, tests: str) -> Kernel:
    """Build User-Mode Linux of a recipe's source and patches, for the kunit tests of a folder.

    Parameters
    ----------
    recipe : Recipe
        Its config and its fragments are for another architecture, and not asked.
    tests : str
        Folder in the source, whose .kunitconfig says what they take; all else is off.

    Returns
    -------
    Kernel
        A program that runs on this machine. The next one of this source is built in its place.

    Raises
    ------
    BadInput
        Room on the disk is missing.
    RunFailed
        A patch did not apply, Kconfig dropped an option, or make failed.
    """
    work = recipe.tree.with_name(f"uml-{recipe.tree.name}")
    cache.need_room(work, ROOM_MIB)
    with cache.locked(work):
        (work / "build.log").write_text("")
        _unpack(recipe, work)
        objects, options = work / "objects", work / "options"
        objects.mkdir(exist_ok=True)
        options.write_text((work / "source" / tests / ".kunitconfig").read_text() + USER_MODE)
        uml = "ARCH=um"
        _make(work, "kernel: configuring", "allnoconfig", uml, f"KCONFIG_ALLCONFIG={options}")
        result = settings(objects / ".config")
        if lost := [name for name, value in settings(options).items() if result.get(name) != value]:
            raise RunFailed(f"User-Mode Linux: Kconfig dropped or changed {', '.join(lost)}")
        _make(work, "kernel: compiling User-Mode Linux", "linux", uml)
        info = _described(recipe, objects, objects / ".config", objects / "linux")
    return Kernel(objects / "linux", info.model_copy(update={"config": "um", "digest": None}))


def source_tree(recipe: Recipe) -> Path:
    """The unpacked source, as Debian ships it."""
    with cache.locked(recipe.tree):
        return _pristine(recipe, recipe.tree)


def _pristine(recipe: Recipe, work: Path) -> Path:
    source, stamp = work / "pristine", work / "pristine.digest"
    if stamp.exists() and stamp.read_text() == recipe.source_sha256:
        return source
    stamp.unlink(missing_ok=True)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    source_.unpack(recipe.source, source, work / "build.log")
    stamp.write_text(recipe.source_sha256)
    return source


def _unpack(recipe: Recipe, work: Path) -> None:
    source, fresh, stamp = work / "source", work / "fresh", work / "source.digest"
    digest = cache.digest(recipe.source_sha256, recipe.patches_sha256 or "")
    if stamp.exists() and stamp.read_text() == digest:
        return
    stamp.unlink(missing_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    log = work / "build.log"
    pristine = _pristine(recipe, work)
    # Of links: patch(1) writes a new file in the place of each that it changes.
    copy = ["cp", "-al", str(pristine), str(fresh)]
    run_logged("kernel: linking the source", copy, log)
    for patch in recipe.patches:
        apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", f"--input={patch}"]
        try:
            run_logged(f"kernel: applying {patch.name}", apply, log, cwd=fresh)
        except RunFailed:
            shutil.rmtree(fresh)
            meant = (
                "the series is for the version named in lib/kernel/common/patches/README.md"
                if recipe.source == needs.SOURCE
                else f"it is for Debian's linux-source-{source_.series(patch) or '7.3'}"
            )
            raise RunFailed(
                f"{patch.name} does not apply to {recipe.package} {recipe.version}; "
                f"{meant}; see {log}"
            ) from None
    # By content, without the archive's times: make then sees only what a patch really changed.
    update = ["rsync", "-rlp", "--checksum", "--delete", f"{fresh}/", f"{source}/"]
    run_logged("kernel: comparing the source with the last build's", update, log)
    shutil.rmtree(fresh)
    stamp.write_text(digest)


def _configure(recipe: Recipe, work: Path) -> None:
    objects = work / "objects"
    objects.mkdir(exist_ok=True)
    _make(work, "kernel: configuring", "tinyconfig")
    merge = work / "source" / "scripts" / "kconfig" / "merge_config.sh"
    command = [str(merge), "-m", "-O", str(objects), str(objects / ".config")]
    command += [str(fragment) for fragment in recipe.fragments]
    run_logged("kernel: configuring", command, work / "build.log", cwd=work / "source")
    _make(work, "kernel: configuring", "olddefconfig")
    result = settings(objects / ".config")
    required = {}
    for fragment in recipe.fragments:
        required |= settings(fragment)
    dropped = [name for name, value in required.items() if result.get(name, "n") != value]
    if recipe.source == needs.SOURCE:
        lost = dropped
    else:
        needed = source_.NEEDED.union(*map(settings, recipe.fragments[1:]))
        lost = [name for name in dropped if name in needed]
        if other := ", ".join(name for name in dropped if name not in needed):
            print(
                f"{recipe.version} has no {other} as {recipe.config}.config wants", file=sys.stderr
            )
    if lost:
        raise RunFailed(f"{recipe.config}.config: Kconfig dropped or changed {', '.join(lost)}")


def _forget(recipe: Recipe, objects: Path) -> None:
    """Take out of a tree what an earlier kernel would leave in this one's archive of headers.

    kernel/gen_kheaders.sh (CONFIG_IKHEADERS) makes the archive anew if a header has another time,
    and does not look at autoconf.h, which is in there: the config would be the earlier one's. And
    utsversion.h, which an image's link writes at its end, is in there if an earlier one did. That
    stays for patched kernels in the tree where the unmodified one is built before them, as the
    records' were; no other has it.
    """
    (objects / "kernel/kheaders.md5").unlink(missing_ok=True)
    if not recipe.patches or recipe.tree.name != "lab":
        (objects / "include/generated/utsversion.h").unlink(missing_ok=True)


def _make(work: Path, what: str, target: str, *more: str) -> None:
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
    run_logged(what, [*command, *variables, *more, jobs, target], work / "build.log")


def _keep(recipe: Recipe, work: Path) -> Kernel:
    objects = work / "objects"
    part = recipe.folder.with_name(recipe.folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    shutil.copy2(objects / "arch/x86/boot/bzImage", part / "bzImage")
    shutil.copy2(objects / ".config", part / "config")
    if "CONFIG_DEBUG_INFO" in settings(objects / ".config"):
        # Only the debug information tells an inlined function from a missing one; a probe asks.
        # It reads all of it: seconds, and on a machine as slow as an emulated one many minutes.
        listed = check_output("pfunct", "--cc_inlined", str(objects / "vmlinux"), seconds=3600)
        (part / INLINED).write_text(f"{listed}\n")
    info = _described(recipe, objects, part / "config", part / "bzImage")
    (part / "kernel.json").write_text(info.model_dump_json(indent=2) + "\n")
    shutil.rmtree(recipe.folder, ignore_errors=True)
    part.replace(recipe.folder)
    return Kernel(recipe.folder / "bzImage", info)


def _described(recipe: Recipe, objects: Path, config: Path, image: Path) -> KernelInfo:
    return KernelInfo(
        release=(objects / "include/config/kernel.release").read_text().strip(),
        package=recipe.package,
        package_version=recipe.version,
        source_sha256=recipe.source_sha256,
        config=recipe.config,
        design=recipe.design,
        config_sha256=cache.file_digest(config),
        patches=[patch.name for patch in recipe.patches],
        patches_sha256=recipe.patches_sha256,
        compiler=recipe.compiler,
        image_sha256=cache.file_digest(image),
        digest=recipe.digest,
    )
