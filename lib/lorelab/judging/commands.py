"""`lorelab claims` and `lorelab findings`: what threads said, and what maintainers would want."""

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lorelab.errors import BadInput
from lorelab.judging import claims as claims_
from lorelab.judging import findings as found_
from lorelab.judging import kunit as kunit_
from lorelab.judging import reproduced, upstream
from lorelab.lab import source

console = Console()


@click.command()
@click.argument("design", required=False)
def claims(design: str | None) -> None:
    """Every claim of a thread and its verdict: a table in a terminal, CSV in a pipe."""
    ledger = claims_.ledger(claims_.claims(design))
    if not console.is_terminal:
        ledger.to_csv(sys.stdout, index=False)
        return
    table = Table(show_lines=True)
    for column in ("id", "statement", "verdict", "why"):
        table.add_column(column)
    for row in ledger.itertuples():
        table.add_row(f"{row.design}/{row.id}", row.statement, row.verdict, row.why)
    console.print(table)


@click.command()
@click.argument("title", metavar="[DESIGN/NAME]", required=False)
@click.option(
    "-o", "folder", type=click.Path(path_type=Path), help="Write its mails there, for you to sign."
)
@click.option(
    "--kernel",
    "image",
    metavar="PATH|running",
    type=click.Path(path_type=Path),
    help="Run its reproducer on a kernel, as `lorelab lab build --source` names it; or, without a "
    "guest, on the one that runs: as root, and on a machine that may be lost.",
)
@click.option(
    "--kunit",
    metavar="RELEASE|PATH",
    help="Build the kunit test of its patches in User-Mode Linux from a source, as `lorelab lab "
    "build --source` takes it, without the other patches and with them, and run it.",
)
@click.option(
    "--record",
    is_flag=True,
    help="Keep what it said in data/reproduced (with --kernel) or data/kunit (with --kunit).",
)
@click.pass_obj
def findings(
    show_again: Callable[[str], None],
    title: str | None,
    folder: Path | None,
    image: Path | None,
    kunit: str | None,
    record: bool,
) -> None:
    """What is worth sending upstream, and what mainline has fixed.

    A table in a terminal, CSV in a pipe. NAME shows one again, and computes what it costs.
    """
    if record and image is None and kunit is None:
        raise BadInput("--record keeps what a reproducer says of a kernel: give --kernel PATH")
    if kunit is not None:
        if title is None or folder is not None or image is not None:
            raise BadInput(f"--kunit {kunit}: takes one finding, and neither -o nor --kernel")
        one = found_.finding(title)
        for answer in kunit_.run(one, source.find(kunit)):
            print(f"{answer.built}:\n{answer.text}", end="")
            if record:
                print(f"recorded: {kunit_.save(one, answer)}", file=sys.stderr)
        return
    if image is not None:
        if title is None or folder is not None:
            raise BadInput(f"--kernel {image}: takes one finding, and no -o")
        one = found_.finding(title)
        here = image == Path("running")
        answer = reproduced.run_here(one) if here else reproduced.run(one, image)
        print(answer.text, end="")
        print(f"kernel: {answer.built}", file=sys.stderr)
        if record:
            print(f"recorded: {reproduced.save(one, answer)}", file=sys.stderr)
        return
    if folder is not None:
        if title is None:
            raise BadInput(f"-o {folder}: of which finding? `lorelab findings` alone lists all")
        one = found_.finding(title)
        runs = [answer for answer in reproduced.recorded(one.title) if answer.published]
        lines = [f"{kernel}: {line}" for kernel, line in reproduced.by_kernel(runs).items()]
        tests = reproduced.by_kernel(kunit_.recorded(one.title))
        lines += [f"kunit test, {kernel}: {line}" for kernel, line in tests.items()]
        files = upstream.write(one, folder, lines)
        print(*files, sep="\n")
        for place, names in upstream.places(files).items():
            print(f"fill in before you send it: {place} in {', '.join(names)}", file=sys.stderr)
        print(f"{folder / 'README'} says what belongs there", file=sys.stderr)
        return
    if title is not None:
        one = found_.finding(title)
        print(f"{one.title}: {one.defect}", file=sys.stderr)
        show_again(one.command)
        print(one.effect(), file=sys.stderr)
        print(one.prior_art.text, file=sys.stderr)
        for kernel, line in reproduced.by_kernel(reproduced.recorded(one.title)).items():
            print(f"{kernel}: {line}", file=sys.stderr)
        for kernel, line in reproduced.by_kernel(kunit_.recorded(one.title)).items():
            print(f"kunit test, {kernel}: {line}", file=sys.stderr)
        return
    rows = found_.table(found_.findings())
    if not console.is_terminal:
        rows.to_csv(sys.stdout, index=False)
        return
    table = Table(show_lines=True)
    for column in ("finding", "send", "defect", "known", "mainline"):
        table.add_column(column)
    for row in rows.itertuples():
        table.add_row(row.finding, row.send, row.defect, row.known, row.mainline)
    console.print(table)
