"""`lorelab claims` and `lorelab findings`: what threads said, and what maintainers would want."""

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lorelab.errors import BadInput
from lorelab.judging import claims as claims_
from lorelab.judging import findings as found_
from lorelab.judging import upstream

console = Console()


@click.command()
@click.argument("design", required=False)
def claims(design: str | None) -> None:
    """Every claim of a thread and its verdict: a table in a terminal, CSV in a pipe."""
    found = claims_.ledger(claims_.claims(design))
    if not console.is_terminal:
        found.to_csv(sys.stdout, index=False)
        return
    table = Table(show_lines=True)
    for column in ("id", "statement", "verdict", "why"):
        table.add_column(column)
    for row in found.itertuples():
        table.add_row(f"{row.design}/{row.id}", row.statement, row.verdict, row.why)
    console.print(table)


@click.command()
@click.argument("title", metavar="[DESIGN/NAME]", required=False)
@click.option(
    "-o", "folder", type=click.Path(path_type=Path), help="Write its mails, ready to send, there."
)
def findings(title: str | None, folder: Path | None) -> None:
    """What is worth sending upstream, and what mainline has mended; NAME shows it again.

    A table in a terminal, CSV in a pipe.
    """
    if folder is not None:
        if title is None:
            raise BadInput(f"-o {folder}: of which finding? `lorelab findings` alone lists all")
        print(*upstream.write(found_.finding(title), folder), sep="\n")
        return
    if title is not None:
        from lorelab.cli import show_again  # which imports this module

        one = found_.finding(title)
        print(f"{one.title}: {one.defect}", file=sys.stderr)
        show_again(one.command)
        print(one.effect(), file=sys.stderr)
        print(one.prior_art.text, file=sys.stderr)
        return
    rows = found_.table(found_.findings())
    if not console.is_terminal:
        rows.to_csv(sys.stdout, index=False)
        return
    table = Table(show_lines=True)
    for column in ("finding", "defect", "effect", "known", "mainline"):
        table.add_column(column)
    for row in rows.itertuples():
        table.add_row(row.finding, row.defect, row.effect, row.known, row.mainline)
    console.print(table)
