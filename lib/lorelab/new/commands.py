"""`lorelab new`: a design of one's own, laid out from its thread."""

import sys
from pathlib import Path

import click

from lorelab.errors import BadInput

ROOT = Path(__file__).parents[3]


@click.command()
@click.argument("name")
@click.option(
    "--thread",
    "file",
    type=click.Path(path_type=Path),
    help="An mbox, a mail, or the text of an archive's page.",
)
@click.option("--remove", "gone", is_flag=True, help="Take the design NAME away again.")
def new(name: str, file: Path | None, gone: bool) -> None:
    """Lay out a chapter of your own: the rooms of a design NAME, from the messages of its thread.

    Prints the pages that it wrote. `make outputs` runs them, `make book` renders them.
    """
    if gone == (file is not None):
        raise BadInput("give --thread FILE to lay out a design, or --remove to take it away")
    # nbformat: half a second that the other doors don't need.
    from lorelab.new import figures, layout, mail

    if gone:
        kept = layout.remove(name, ROOT).relative_to(ROOT)
        print(f"{name} is gone, its files are in {kept}; now run: make outputs", file=sys.stderr)
        return
    layout.check_name(name, ROOT, click.get_current_context().find_root().command.commands)
    messages = mail.read(file)
    numbers, asked = figures.figures(messages), figures.sentences(messages)
    for page in layout.lay_out(name, messages, numbers, asked, ROOT):
        print(page.relative_to(ROOT))
    counts = f"{len(messages)} messages, {len(numbers)} numbers, {len(asked)} questions and doubts"
    print(f"{name}: {counts}, all to be confirmed; now run: make outputs", file=sys.stderr)
