"""`lorelab sweep`: an experiment or a notebook at many points."""

import sys
from pathlib import Path

import click

from lorelab.errors import BadInput, RunFailed
from lorelab.running.sweep import plan as plans


@click.command()
@click.argument("target", metavar="DESIGN/EXPERIMENT|NOTEBOOK")
@click.option(
    "-p",
    "pairs",
    metavar="NAME=VALUES",
    multiple=True,
    help="a,b,c or FIRST:LAST[:STEP], STEP a number to add or *FACTOR; may be repeated.",
)
@click.option(
    "-o",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the sweep; a sweep that was cut short goes on in it.",
)
@click.option(
    "--sample",
    "number",
    type=click.IntRange(1, plans.LARGEST),
    metavar="N",
    help="N points that fill the ranges NAME=LOW:HIGH (NAME=: the declared one) evenly.",
)
@click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster that is there: tcp://...")
@click.option("--kernel", is_flag=True, help="Measure on the laboratory's kernel, one guest a CPU.")
def sweep(
    target: str,
    pairs: tuple[str, ...],
    folder: Path,
    number: int | None,
    scheduler: str | None,
    kernel: bool,
) -> None:
    """Run an experiment or a notebook at every point of a grid; one table, one page.

    All points are checked before the first one runs. One that fails is reported and does not stop
    the others. Whatever ends a sweep, the same command goes on where it stopped.
    """
    check, fields = _target(target, kernel)
    if number is None:
        plan = plans.grid(target, pairs, kernel)
    else:
        plan = plans.sample(target, pairs, fields, number, kernel)
    for point in plan:
        check(point)
    from lorelab.running.sweep import journal, page, run  # Dask takes a second

    with journal.Journal(folder, plan, journal.rests_on(plan)) as points:
        if points.others and not points.done:
            print("points of another state are not taken over", file=sys.stderr)
        if points.done:
            print(f"{len(points.done)} of {len(plan)} points are finished already", file=sys.stderr)
        failed = run.run(points, scheduler)
        for number, why in failed.items():
            print(f"failed: {plan[number]}: {why}", file=sys.stderr)
        for written in page.write(points, failed):
            print(written)
    if failed:
        raise RunFailed(f"{len(failed)} of {len(plan)} points failed; the others are kept")


def _target(target: str, kernel: bool):
    """What checks a point of `target`, and the fields that it takes."""
    from lorelab.experiments import experiment
    from lorelab.params import parse
    from lorelab.running import rerun

    if target.endswith(".ipynb"):
        if kernel:
            raise BadInput("--kernel: takes an experiment; a notebook has a parameter for that")
        notebook = Path(target)
        return lambda point: rerun.checked(notebook, point), {}
    question = experiment(target)
    half = "kernel" if kernel else "model"
    if half not in question.backends:
        raise BadInput(f"{target} has no {half} half")
    return lambda point: parse(question.Params, point), question.Params.model_fields
