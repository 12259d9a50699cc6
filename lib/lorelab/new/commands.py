"""`lorelab new`: a design of one's own, laid out from its thread."""

import sys
from pathlib import Path

import click

from lorelab.errors import BadInput, RunFailed

ROOT = Path(__file__).parents[3]
OF_ALL = ("notebooks/ledger.ipynb", "notebooks/glossary.ipynb", "notebooks/bibliography.ipynb")
LATER = "; now run: make outputs"


@click.command()
@click.argument("name")
@click.option(
    "--thread",
    "file",
    type=click.Path(path_type=Path),
    help="An mbox, a mail, or the text of an archive's page.",
)
@click.option("--remove", "gone", is_flag=True, help="Take the design NAME away again.")
@click.option("--no-outputs", "later", is_flag=True, help="Run no page; `make outputs` does it.")
def new(name: str, file: Path | None, gone: bool, later: bool) -> None:
    """Lay out a chapter of your own: the rooms of a design NAME, from the messages of its thread.

    Prints the pages that it wrote, then runs them and those that list all chapters, so that
    `make test` and `make book` find nothing missing.
    """
    if gone == (file is not None):
        raise BadInput("give --thread FILE to lay out a design, or --remove to take it away")
    # nbformat: half a second that the other commands don't need.
    from lorelab.new import figures, layout, mail

    if gone:
        kept = layout.remove(name, ROOT).relative_to(ROOT)
        print(f"{name} is gone, its files are in {kept}{LATER * later}", file=sys.stderr)
        _run([], later)
        return
    layout.check_name(name, ROOT, click.get_current_context().find_root().command.commands)
    messages = mail.read(file)
    numbers, sentences = figures.figures(messages), figures.sentences(messages)
    pages = [
        str(page.relative_to(ROOT))
        for page in layout.lay_out(name, messages, numbers, sentences, ROOT)
    ]
    print("\n".join(pages))
    quoted = sum(one.quoted for one in numbers)
    counts = (
        f"{len(messages)} messages, {len(numbers)} numbers"
        + (f" ({quoted} of them in quotes of others)" if quoted else "")
        + f", {len(sentences)} questions and doubts"
    )
    print(f"{name}: {counts}, all to be confirmed{LATER * later}", file=sys.stderr)
    try:
        _run(pages, later)
    except RunFailed as error:
        raise RunFailed(f"{name} is laid out; its pages are not run: {error}{LATER}") from None


def _run(pages: list[str], later: bool) -> None:
    """Store outputs of pages, and of those whose outputs are of all chapters."""
    if later:
        return
    from lorelab.book import build as builder

    builder.store(ROOT, [*pages, *OF_ALL])
