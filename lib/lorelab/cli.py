"""The command line: data on stdout, progress on stderr, exit status 2 for bad input."""

import errno
import random
import shlex
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pandas as pd
from rich.console import Console
from rich.table import Table

from lorelab import atomic, params
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import Experiment, designs, experiment, experiments
from lorelab.judging import reproduced
from lorelab.judging.agreement import AgreementVerdict
from lorelab.judging.commands import claims, findings
from lorelab.lab import build, pool, probes, recipes, records
from lorelab.lab.boot import GuestFailed
from lorelab.lab.commands import doctor, lab
from lorelab.lab.external_kernel import TAKES
from lorelab.lab.run import RunOptions
from lorelab.new.commands import new
from lorelab.running.sweep.commands import sweep

console = Console()
parameters = click.option(
    "-p", "pairs", metavar="NAME=VALUE", multiple=True, help="Set a parameter; may be repeated."
)
output = click.option(
    "-o", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the CSV here."
)
own_image = click.option(
    "--kernel",
    "image",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help=f"Boot a kernel of your own instead of the laboratory's: {TAKES}.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lorelab")
@click.pass_context
def cli(context: click.Context) -> None:
    """Kernel mailing-list threads as executable research notebooks."""
    context.obj = show_again


@cli.command("list")
@click.argument("name", metavar="[DESIGN[/EXPERIMENT]]", required=False)
def list_(name: str | None) -> None:
    """Experiments and their parameters, with units, ranges and defaults: all, or those of NAME."""
    one = name is not None and "/" in name
    for question in [experiment(name)] if one else experiments(name).values():
        table = Table(
            title=f"{question.name} ({question.backends}): {question.question}",
            title_justify="left",
        )
        for column in ("parameter", "default", "unit", "takes", "only", "meaning"):
            table.add_column(column)
        for name, field in question.Params.model_fields.items():
            table.add_row(
                name,
                params.format_value(field.default),
                field.json_schema_extra["unit"],
                params.describe_range(field),
                field.json_schema_extra["only"] or "",
                field.description,
            )
        console.print(table)


@cli.command()
@click.argument("name", metavar="DESIGN/EXPERIMENT")
@parameters
@output
def model(name: str, pairs: tuple[str, ...], file: Path | None) -> None:
    """Run the prototype; counters as CSV on stdout."""
    question, setting = _asked(name, pairs)
    _write(question.simulate(setting), file)


@cli.command()
@click.argument("name", metavar="DESIGN/EXPERIMENT")
@parameters
@output
@own_image
@click.option(
    "--config",
    metavar="NAME",
    help="The laboratory's kernel of `lorelab lab build --config NAME`: debug, kasan or kcsan.",
)
@click.option("--record", is_flag=True, help="Keep the run under data/kernel, with its provenance.")
@click.option(
    "--probe",
    "probing",
    metavar="PROBE",
    multiple=True,
    help="Watch it with PROBE.c of lib/kernel/*/probes; may be repeated.",
)
@click.option("--icount", is_flag=True, help="A ns of the probes' clock is an instruction.")
@click.option(
    "--recorded",
    "release",
    metavar="RELEASE",
    help="Boot none, and print the run recorded on a kernel that was not built here, such as "
    "7.3.4+deb13-cloud-amd64.",
)
def kernel(
    name: str,
    pairs: tuple[str, ...],
    file: Path | None,
    image: Path | None,
    config: str | None,
    record: bool,
    probing: tuple[str, ...],
    icount: bool,
    release: str | None,
) -> None:
    """Boot a kernel and run the same on it; counters as CSV on stdout.

    What a probe counts comes with them. Its events go to FILE.PROBE.STREAM.parquet beside -o FILE.
    When the guest fails, what it had given goes to FILE.partial.csv, or to stderr without -o.
    With --record a name may be given several values, a -p each: those that take the same machine
    are measured in one boot.
    """
    if release:
        if image or config or record or probing or icount:
            raise BadInput(f"--recorded {release}: boots no kernel; takes -p and -o alone")
        question, setting = _asked(name, pairs)
        before = question.recorded(setting, release=release)
        if before is None:
            raise BadInput(f"--recorded {release}: {name} has no run of it with these parameters")
        _say_which(before)
        _write(before.counters, file)
        return
    if record:
        question = experiment(name)
        each = params.combinations(question.Params, pairs)
    else:
        question, setting = _asked(name, pairs)
        each = [setting]
    if config:
        if image or record:
            raise BadInput("--config is for finding bugs: it takes no --kernel and no --record")
        image = build.built(recipes.recipe(question.design, config)).image
    if record and (probing or icount):
        raise BadInput("--record keeps an experiment as it is; leave --probe and --icount out")
    for probe in probing:
        if probes.streams(probes.source(probe, question.design)) and file is None:
            raise BadInput(f"--probe {probe}: sends events, which go to Parquet; give -o FILE")
    try:
        runs = question.measure(each, RunOptions(image, probing, icount))
    except GuestFailed as failed:
        _keep_part(failed, file)
        raise
    _say_which(runs[0])
    if record:
        for measured, setting in zip(runs, each, strict=True):
            _keep(measured, setting)
    counters = pd.concat([measured.counters for measured in runs], ignore_index=True)
    _write(_with_probes(counters, runs[0].probes, file) if probing else counters, file)


@cli.command()
@click.argument("name", metavar="DESIGN/EXPERIMENT")
@parameters
@own_image
@click.option("--live", is_flag=True, help="Boot a kernel even when a recorded run matches.")
def agree(name: str, pairs: tuple[str, ...], image: Path | None, live: bool) -> None:
    """Run model and kernel; how far apart they are, counter by counter.

    The kernel's side is the recorded run of these parameters; without one, a kernel is booted.
    stderr gets the verdict (passed, failed, undecided, no model) and the method that reached it.
    """
    question, setting = _asked(name, pairs)
    question.check_agrees()
    record = None if live or image else question.recorded(setting)
    if record is None:
        [record] = question.measure([params.for_kernel(setting)], RunOptions(image))
    _say_which(record)
    agreement = question.agree(setting, record)
    agreement.table.to_csv(sys.stdout, index=False)
    print(f"{name}: {agreement.verdict}: {agreement.method}", file=sys.stderr)
    if agreement.verdict == AgreementVerdict.FAILED:
        raise RunFailed(f"{name}: model and kernel differ")


@cli.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@parameters
@click.option(
    "-o",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the notebook here: x.ipynb.",
)
@click.option("--help-parameters", "describe", is_flag=True, help="Only print what it takes.")
def run(notebook: Path, pairs: tuple[str, ...], file: Path | None, describe: bool) -> None:
    """Rerun a notebook with other parameters; prints where notebook and HTML are."""
    from lorelab.running import (
        rerun,  # papermill and nbconvert: a second that other commands don't need
    )

    if describe:
        _print(rerun.described(notebook))
        return
    for written in rerun.run(notebook, params.assignments(pairs), file):
        print(written)


@cli.command("figure")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "-o", "file", type=click.Path(dir_okay=False, path_type=Path), help="x.svg, x.png or x.pdf."
)
def figure_(name: str | None, file: Path | None) -> None:
    """Draw a chart of a page for slides of your own; without NAME, list all."""
    from lorelab.showing import figure  # vl-convert: half a second that other commands don't need

    if name is None and file:
        raise BadInput(f"-o {file}: of which figure? `lorelab figure` alone lists all")
    if name is None:
        for known, spec in figure.figures().items():
            print(f"{known}\t{figure.title(spec)}")
        return
    if file is None:
        raise BadInput(f"{name}: give -o a name that ends in {', '.join(figure.KINDS)}")
    figure.draw(name, file)
    print(file)


@lab.command("record")
@click.argument("design", required=False)
def record_all(design: str | None) -> None:
    """Measure every recorded run again; a run that differs is kept beside the old."""
    requested = [
        (question, records.recorded(question.name, question.Params))
        for question in experiments(design).values()
    ]
    for _, setting, measured in pool.measured(requested):
        _keep(measured, setting)


@lab.command()
@click.argument("design", required=False)
@click.option("--seed", default=1, show_default=True, help="Chooses among the runs of one kind.")
def verify(design: str | None, seed: int) -> None:
    """Measure a sample of the recorded runs again; fails when one differs.

    The sample has one run of each kind: those that set the same parameters to other than their
    defaults are of one kind. Runs in which the kernel draws random numbers are judged by means over
    repeats, or by whether the model follows the new run. What has no run to measure is named.
    """
    verdicts: dict[str, AgreementVerdict] = {}
    every = [question for question in experiments(design).values() if "kernel" in question.backends]
    requested = [
        (question, _sample(records.recorded(question.name, question.Params), random.Random(seed)))
        for question in every
    ]
    if nothing := ", ".join(question.name for question, runs in requested if not runs):
        print(f"left out, for no run on our kernels is recorded: {nothing}", file=sys.stderr)
    number = sum(len(runs) for _, runs in requested)
    if not number:
        raise RunFailed("nothing was measured again: no recorded run can be")
    for question, setting, measured in pool.measured(requested):
        named = f"{question.name} {params.to_cli(setting)}"
        agreement = question.agree_with_record(setting, question.recorded(setting), measured)
        print(f"{named}: {agreement.verdict}: {agreement.method}", file=sys.stderr)
        agreement.table.assign(run=named).to_csv(sys.stdout, index=False)
        verdicts[named] = agreement.verdict
    counted = Counter(verdicts.values())
    totals = ", ".join(f"{counted[verdict]} {verdict}" for verdict in AgreementVerdict)
    print(f"{number} runs, of a kind each: {totals}", file=sys.stderr)
    if differ := "; ".join(
        named for named, agreement in verdicts.items() if agreement == AgreementVerdict.FAILED
    ):
        raise RunFailed(f"{differ}: the kernel no longer says what was recorded")


cli.add_command(lab)
cli.add_command(doctor)
cli.add_command(sweep)
cli.add_command(claims)
cli.add_command(findings)
cli.add_command(new)
# What one design alone has: DESIGN/commands.py with `command`, and `lab_command` where it needs a
# kernel.
for name in designs():
    if find_spec(f"lorelab.{name}.commands"):
        commands = import_module(f"lorelab.{name}.commands")
        cli.add_command(commands.command)
        if hasattr(commands, "lab_command"):
            lab.add_command(commands.lab_command)


def _print(rows: pd.DataFrame) -> None:
    """A table in a terminal, CSV in a pipe."""
    if not console.is_terminal:
        rows.to_csv(sys.stdout, index=False)
        return
    table = Table(*rows.columns)
    for row in rows.itertuples(index=False):
        table.add_row(*map(str, row))
    console.print(table)


def _keep(measured: records.Record, requested: params.Params) -> None:
    file = records.save(measured, requested)
    outcome = f"recorded in {file}" if file else "the same as the recorded run; nothing new to keep"
    print(f"{measured.provenance.experiment}: {outcome}", file=sys.stderr)


def _keep_part(failed: GuestFailed, file: Path | None) -> None:
    """Put the complete results of a run that failed where no one takes them for all of it."""
    part = pd.DataFrame(failed.rows)
    if file is None:
        for line in part.to_csv(index=False).splitlines() if len(part) else ():
            print(f"partial: {line}", file=sys.stderr)
        return
    beside = file.with_name(f"{file.name}.partial.csv")
    if len(part):
        _write(part, beside)
        print(f"partial: {len(part)} results before the failure are in {beside}", file=sys.stderr)


def _sample(recorded: list[params.Params], draws: random.Random) -> list[params.Params]:
    """One of each kind of recorded run, by which parameters are off their defaults."""
    kinds: dict[frozenset[str], list[params.Params]] = {}
    for setting in recorded:
        off = setting.model_dump(exclude_defaults=True).keys() - {"seed"}
        kinds.setdefault(frozenset(off), []).append(setting)
    return [draws.choice(kind) for kind in kinds.values()]


def _say_which(measured: records.Record) -> None:
    source = measured.provenance
    which = f"{source.kernel.release} under {source.accelerator}, {source.date:%F %R} UTC"
    print(f"kernel: {which}", file=sys.stderr)


def show_again(command: str) -> None:
    """Run what shows a finding; what was recorded of a kernel is not measured anew."""
    subcommand, name, *pairs = shlex.split(command)
    if subcommand == "findings":
        for answer in reproduced.recorded(name):
            print(f"{answer.built}:\n{answer.text}", end="")
        return
    if subcommand == "kernel" and "--recorded" not in pairs:
        question, setting = _asked(name, tuple(pairs[1::2]))
        if record := question.recorded(setting):
            _say_which(record)
            _write(record.counters, None)
            return
    cli.main([subcommand, name, *pairs], standalone_mode=False)


def _asked(name: str, pairs: tuple[str, ...]) -> tuple[Experiment, params.Params]:
    question = experiment(name)
    return question, params.parse(question.Params, params.assignments(pairs))


def _with_probes(counters: pd.DataFrame, frames: list[dict], file: Path | None) -> pd.DataFrame:
    """Add what probes counted, and write their events beside `file`."""
    for probe, number in probes.lost(frames).items():
        print(f"probe {probe}: lost {number} events; its counts are too low", file=sys.stderr)
    for stream, table in probes.events(frames).items():
        _write(table, file.with_name(f"{file.name}.{stream}.parquet"))
    first = counters.iloc[0]
    counted = probes.counters(f"{first.design}/{first.experiment}", first.variant, frames)
    return pd.concat([counters, counted], ignore_index=True)


def _write(counters: pd.DataFrame, file: Path | None) -> None:
    if file is None:
        counters.to_csv(sys.stdout, index=False)
        return
    try:
        with atomic.folder(file.parent) as part:
            if file.suffix == ".parquet":
                counters.to_parquet(part / file.name, index=False)
            else:
                counters.to_csv(part / file.name, index=False)
            (part / file.name).replace(file)
    except OSError as error:
        raise RunFailed(
            f"cannot write {file}: {error.strerror or error}; give -o another place"
        ) from None


CURES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EROFS: "make it writable",
    errno.EACCES: "allow it",
}
"""What to do where something can't be written, or read, wherever that was."""


def main(command: click.Command = cli) -> None:
    """Run a command; its errors become one line and an exit status."""
    try:
        command(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    except click.ClickException as error:
        print(f"lorelab: {error.format_message()}", file=sys.stderr)
        sys.exit(2)
    except BadInput as error:
        print(f"lorelab: {error}", file=sys.stderr)
        sys.exit(2)
    except RunFailed as error:
        print(f"lorelab: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.errno not in CURES:
            raise
        where = error.filename2 or error.filename
        reason = f"{error.strerror}: {where}" if where else error.strerror
        print(
            f"lorelab: {reason}; {CURES[error.errno]} and give the command again", file=sys.stderr
        )
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        print("lorelab: interrupted", file=sys.stderr)
        sys.exit(130)
