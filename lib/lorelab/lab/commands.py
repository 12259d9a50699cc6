"""`lorelab lab ...` and `lorelab doctor`: what is built, and what this machine lacks."""

import sys

import click
from rich.console import Console
from rich.table import Column, Table

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import boot, build, cache, drift, guest, needs, obstacles, recipes, source


@click.group()
def lab() -> None:
    """The kernel laboratory: build a kernel and a guest, say what is built, clean up."""


@lab.command("build")
@click.argument("designs", metavar="[DESIGN]...", nargs=-1)
@click.option(
    "--config",
    metavar="NAME",
    help="Build with lib/kernel/common/NAME.config on top (debug, kasan or kcsan), or a config of "
    "the design's own, lib/kernel/DESIGN/configs/NAME.config.",
)
@click.option(
    "--source",
    "word",
    metavar="RELEASE|PATH",
    help="Build one DESIGN's config on another source: Debian's linux-source-RELEASE, or a tree.",
)
@click.option(
    "--upstream",
    is_flag=True,
    help="With --source: with DESIGN's patches for upstream; as DESIGN/FINDING, with those of that "
    "finding alone.",
)
def build_(designs: tuple[str, ...], config: str | None, word: str | None, upstream: bool) -> None:
    """Build kernels, the guest and its programs; seconds when nothing changed.

    The unmodified kernel and, of each DESIGN or of all, the one with its patches.
    """
    if upstream and word is None:
        raise BadInput("--upstream goes with --source: those patches are for plain Linux")
    if word is not None:
        if len(designs) != 1:
            raise BadInput(f"--source {word}: of which design? give one")
        needs.check(needs.BUILD)
        design, _, finding = designs[0].partition("/")
        if finding and not upstream:
            raise BadInput(f"{designs[0]}: a finding's patches go with --upstream")
        recipe = recipes.recipe(design, config, upstream, source.find(word), finding or None)
        if upstream and not recipe.patches:
            raise BadInput(
                f"--upstream: {designs[0]} has no patch for {recipe.package} {recipe.version}"
            )
        print(build.build(recipe).image)
        return
    # All that can be missing is named before the first of them starts.
    needs.check(needs.BUILD + needs.GUEST + needs.BOOT)
    selected = list(designs) or cache.designs()
    chosen = (
        [recipes.recipe(one, config) for one in selected] if config else recipes.recipes(selected)
    )
    # Last those with patches, on the objects of the others: few files are compiled again.
    for one in chosen:
        kernel = build.build(one)
        print(f"{_named(one)} is ready: {kernel.info.release}", file=sys.stderr)
    if config is None:
        for design in selected:
            guest.build_programs(recipes.recipe(design))
        guest.build_root()
        print(f"the guest is ready; all of it is in {cache.root()}", file=sys.stderr)


@lab.command()
def status() -> None:
    """What is built, as a table on stdout."""
    table = Table("part", "state", "made of")
    try:
        for recipe in recipes.recipes(cache.designs()):
            kernel = build.find(recipe)
            state = f"built, {kernel.info.release}" if kernel else "not built"
            of = f"{recipe.package} {recipe.version}, {len(recipe.patches)} patches"
            table.add_row(_named(recipe), state, f"{of}, {recipe.compiler}")
    except BadInput as lacking:
        table.add_row("kernels", "not built", str(lacking))
    root = guest.find()
    packages = f"{guest.SUITE}, {len(root.info.packages)} packages" if root else guest.SUITE
    table.add_row("guest", "built" if root else "not built", packages)
    for design, (runs, off) in drift.counted().items():
        since = f"{off} with patches, config or guest programs that are no longer in the tree"
        table.add_row(f"records of {design}", f"{runs} runs", since)
    Console().print(table)


def _named(recipe: recipes.Recipe) -> str:
    of = f" of {recipe.design}" if recipe.design else ""
    config = "" if recipe.config == "lab" else f" ({recipe.config})"
    return f"{'kernel' if recipe.patches else 'unmodified kernel'}{of}{config}"


@lab.command()
def clean() -> None:
    """Remove everything the laboratory built; recorded runs stay."""
    for name in ("kernel", "guest", "programs", "accelerator"):
        guest.remove(cache.root() / name)


@click.command()
@click.option("--packages", is_flag=True, help="Only the Debian packages the laboratory needs.")
def doctor(packages: bool) -> None:
    """What this machine has for the laboratory, what it lacks, and the command that gets it.

    Then, of all that lorelab offers and this machine can't do, why, and the command for it.
    """
    if packages:
        print("\n".join(sorted({need.package for need in needs.ALL})))
        return
    names = ("needed", "here", "Debian package", "for")
    table = Table(*(Column(name, overflow="fold") for name in names))
    for need in needs.ALL:
        table.add_row(need.what, "yes" if need.here() else "no", need.package, need.use)
    Console().print(table)
    lacking = needs.missing(needs.BUILD + needs.GUEST + needs.BOOT)
    if lacking and (otherwise := needs.elsewhere(needs.system())):
        print(otherwise, file=sys.stderr)
    if not lacking:
        root = guest.find()
        kernel = build.find(recipes.recipe())
        if root is not None and kernel is not None:
            print(f"accelerator: {boot.fastest(kernel.image, root.root)}", file=sys.stderr)
    if cant := obstacles.obstacles():
        heads = ("why can't I ...", "because", "the command")
        table = Table(*(Column(name, overflow="fold") for name in heads))
        for one in cant:
            table.add_row(*one)
        Console().print(table)
    if lacking:
        raise RunFailed(needs.command(lacking, needs.system()))
