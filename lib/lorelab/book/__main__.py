"""`python -m lorelab.book build` and `store`; the Makefile calls them."""

import click

from lorelab.book import build as builder
from lorelab.cli import main


@click.group()
def cli() -> None:
    """Build the book from its notebooks."""


@cli.command()
def build() -> None:
    """Run what changed, render build/book."""
    print(builder.build())


@cli.command()
def store() -> None:
    """Run what changed, write the outputs into notebooks/."""
    for name in builder.store():
        print(name)


if __name__ == "__main__":
    main(cli)
