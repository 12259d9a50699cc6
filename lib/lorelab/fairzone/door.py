"""The door `lorelab fairzone FILE`: what each policy would make of the zones in a zoneinfo."""

import sys
from pathlib import Path

import click


@click.command("fairzone")
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Tell a copy of /proc/zoneinfo: marks, reserves, batches, and each policy's shares."""
    from lorelab.fairzone import report, zoneinfo  # compiles kernels, which no other door needs

    report.nodes(zoneinfo.read_nodes(file)).to_csv(sys.stdout, index=False)
