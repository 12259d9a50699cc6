"""`python -m lorelab.panel [DESIGN/QUESTION ...]`: compile the modules that are stale, or these."""

import click

from lorelab.cli import main
from lorelab.panel import kept


@click.command()
@click.argument("questions", nargs=-1)
def cli(questions: tuple[str, ...]) -> None:
    """Compile the modules of panels for the browser: of those that are stale, or of those named."""
    for question in kept.build(list(questions) or kept.stale()):
        print(question)


if __name__ == "__main__":
    main(cli)
