"""`lorelab lab ...` and `lorelab doctor`: what is built, and what this machine lacks."""

import shutil
import sys

import click
from rich.console import Console
from rich.table import Table

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import boot, build, cache, guest, needs


@click.group()
def lab() -> None:
    """The kernel laboratory: build a kernel and a guest, say what is built, clean up."""


@lab.command("build")
@click.option(
    "--config",
    default="lab",
    metavar="NAME",
    help="Build the patched kernel with lib/kernel/config/NAME.config on top: debug or kcsan.",
)
def build_(config: str) -> None:
    """Build both kernels, the guest and its programs; seconds when nothing changed."""
    # All that can be missing is named before the first of them starts.
    needs.check(needs.BUILD + needs.GUEST + needs.BOOT)
    if config != "lab":
        kernel = build.build(config, patched=True)
        print(f"kernel {kernel.info.release} ({config}) is ready", file=sys.stderr)
        return
    kernel = build.build()
    guest.build_programs(build.recipe())
    guest.build_root()
    # Last, on the objects of the first: only what the series touches is compiled again.
    build.build(patched=True)
    ready = f"kernel {kernel.info.release}, the same with switches, and guest"
    print(f"{ready} are ready in {cache.root()}", file=sys.stderr)


@lab.command()
def status() -> None:
    """What is built, as a table on stdout."""
    table = Table("part", "state", "made of")
    for part, patched in (("kernel", False), ("kernel with switches", True)):
        try:
            made = build.recipe(patched=patched)
            kernel = build.find(made)
            state = f"built, {kernel.info.release}" if kernel else "not built"
            table.add_row(part, state, f"{made.package} {made.version}, {made.compiler}")
        except BadInput as lacking:
            table.add_row(part, "not built", str(lacking))
    root = guest.find()
    packages = f"{guest.SUITE}, {len(root.info.packages)} packages" if root else guest.SUITE
    table.add_row("guest", "built" if root else "not built", packages)
    Console().print(table)


@lab.command()
def clean() -> None:
    """Remove everything the laboratory built; recorded runs stay."""
    for name in ("kernel", "guest", "programs", "accelerator"):
        shutil.rmtree(cache.root() / name, ignore_errors=True)


@click.command()
@click.option("--packages", is_flag=True, help="Only the Debian packages the laboratory needs.")
def doctor(packages: bool) -> None:
    """What this machine has for the laboratory, what it lacks, and the command that gets it."""
    if packages:
        print("\n".join(sorted({need.package for need in needs.ALL})))
        return
    table = Table("needed", "here", "Debian package", "for")
    for need in needs.ALL:
        table.add_row(need.what, "yes" if need.here() else "no", need.package, need.use)
    Console().print(table)
    lacking = needs.missing(needs.BUILD + needs.GUEST + needs.BOOT)
    if lacking:
        raise RunFailed(f"as root: {needs.command(lacking)}")
    root = guest.find()
    kernel = build.find(build.recipe())
    if root is None or kernel is None:
        print("kernel or guest not built yet: lorelab lab build", file=sys.stderr)
    else:
        print(f"accelerator: {boot.fastest(kernel.image, root.root)}", file=sys.stderr)
