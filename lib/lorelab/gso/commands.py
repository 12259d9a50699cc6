"""`lorelab gso FILE`: which zero-copy packets of a live kernel were copied after all."""

import sys
from pathlib import Path

import click

from lorelab.errors import BadInput


@click.command("gso")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--script", is_flag=True, help="Print the script that makes a recording, as root.")
def command(file: Path | None, script: bool) -> None:
    """Say how many zero-copy packets of a live kernel were copied after all, and where."""
    from lorelab.gso.recording import recording, report

    if script:
        if file is not None:
            raise BadInput(f"{file}: --script takes no FILE")
        print(recording.SCRIPT.read_text(), end="")
        return
    if file is None:
        raise BadInput(f"gso takes a FILE; {recording.HOW}")
    recorded = recording.read(file)
    report.summary(recorded).to_csv(sys.stdout, index=False)
    if unseen := [
        sender for kind, sender in recording.SENDERS.items() if kind not in recorded.watched
    ]:
        print(f"{file}: not watched: completions of {', '.join(unseen)}", file=sys.stderr)
    if recorded.lost:
        print(
            f"{file}: the kernel lost {recorded.lost} events or more, so these counts are too low; "
            "record for a shorter time, or with a larger buffer_size_kb",
            file=sys.stderr,
        )
