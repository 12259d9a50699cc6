"""The command `lorelab fairzone FILE`: what each policy would make of the zones in a zoneinfo."""

import sys
from pathlib import Path

import click


@click.command("fairzone")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--disk-mb-s",
    type=click.FloatRange(0, 100_000),
    default=132,
    show_default=True,
    help="Throughput of your disk; kswapd naps for a tenth of what it moves in a second.",
)
@click.option(
    "--page-kib",
    type=click.Choice(["4", "16", "64"]),
    default="4",
    show_default=True,
    help="Size of a page (getconf PAGESIZE), which the file does not tell.",
)
def command(file: Path, disk_mb_s: float, page_kib: str) -> None:
    """Tell a copy of /proc/zoneinfo: marks, reserves, batches, and each policy's shares.

    What the table leaves out, and which of its columns is your kernel, stands on stderr.
    """
    from lorelab.fairzone.pages import report  # compiles kernels, which no other command needs
    from lorelab.fairzone.recording import zoneinfo

    dump = zoneinfo.dump(file)
    for line in report.notes(dump, disk_mb_s, int(page_kib)):
        print(line, file=sys.stderr)
    report.nodes(dump.nodes, disk_mb_s, int(page_kib)).to_csv(sys.stdout, index=False)
