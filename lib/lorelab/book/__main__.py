"""`python -m lorelab.book build`, `store`, `due`, `judge`, `talk` and `prose`: see the Makefile."""

import sys
from pathlib import Path

import click

from lorelab.book import build as builder
from lorelab.book import compared, ledger, pdf
from lorelab.book import prose as prose_
from lorelab.book import talk as talk_
from lorelab.book.dialect import dialect
from lorelab.cli import main
from lorelab.errors import RunFailed
from lorelab.experiments import designs

DAY = 24 * 60 * 60
"""Seconds."""


@click.group()
def cli() -> None:
    """Build the book from its notebooks."""


@cli.command()
def build() -> None:
    """Run what changed, render build/book."""
    print(builder.build())


@cli.command()
@click.argument("pages", nargs=-1)
def store(pages: tuple[str, ...]) -> None:
    """Run what changed, write the outputs into notebooks/: of all pages, or those named."""
    for name in builder.store(names=pages):
        print(name)


@cli.command()
@click.argument("seed", type=click.IntRange(min=0))
def due(seed: int) -> None:
    """Print the pages that `make test` runs again: SEED, seconds since 1970, has a day's turn."""
    turn = seed // DAY % builder.PARTS
    changed, in_turn = builder.due(turn)
    line = f"pages run again: {len(changed)} whose outputs rest on something that changed"
    line += f"; {len(in_turn)} of the others, part {turn + 1} of {builder.PARTS} by the day"
    print(f"{line} (make test-all runs all):", *changed, *in_turn, sep="\n  ", file=sys.stderr)
    print(*changed, *in_turn, sep="\n")


@cli.command()
@click.argument("experiments", nargs=-1)
def judge(experiments: tuple[str, ...]) -> None:
    """Judge recorded runs by the model, for the page `ledger`: of all that has new ones."""
    for name in experiments or ledger.unjudged():
        print(ledger.judge_records(name))


@cli.command()
@click.argument("decks", nargs=-1)
def talk(decks: tuple[str, ...]) -> None:
    """Run what changed, make build/talk: deck and PDF of each chapter, or of those named.

    Without names, the book as one PDF, too.
    """
    files = talk_.talk(decks)
    for file in (*files, *talk_.printed(files)):
        print(file)
    if not decks:
        builder.build()
        print(pdf.whole())


@cli.command()
@click.argument(
    "pages", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
def prose(pages: tuple[Path, ...]) -> None:
    """Fail for prose with a number that nothing backs, a comparison without assert, or dialect."""
    numbers = [str(number) for page in pages for number in prose_.unbacked(page)]
    comparisons = [str(one) for page in pages for one in compared.unasserted(page)]
    chapters = sorted({page.parent.name for page in pages} & set(designs()))
    comparisons += [
        str(one) for design in chapters for one in compared.unasserted_in_library(design)
    ]
    words = [line for page in pages for line in dialect(page)]
    print("\n".join(numbers + comparisons + words))
    if words:
        raise RunFailed(f"{len(words)} words of a dialect; lorelab/book/dialect.py has the list")
    if numbers:
        raise RunFailed(f"{len(numbers)} numbers in prose have nothing on their page to back them")
    if comparisons:
        raise RunFailed(f"{len(comparisons)} comparisons name no assert of their page")


if __name__ == "__main__":
    main(cli)
