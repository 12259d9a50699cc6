"""The command `lorelab vmalock FILE`: recordings of the mmap_lock tracepoints, read."""

import sys
from pathlib import Path

import click

from lorelab import atomic


@click.command("vmalock")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path),
    help="Write each wait and each hold, and histograms of both, here, as CSV and SVG.",
)
def command(file: Path, folder: Path | None) -> None:
    """Say who waited for whom at mmap_lock: its tracepoints, from perf, trace-cmd or ftrace."""
    from lorelab.vmalock.recording import recording, report

    events = recording.read(file)
    summary = report.summary(events)
    if folder is not None:
        draw(events, folder)
    summary.to_csv(sys.stdout, index=False)
    for gap in report.gaps(events):
        print(f"{file}: {gap}", file=sys.stderr)
    print(
        "what per-VMA locks would leave of these waits can't be said: the tracepoints name the "
        "address space, and not the VMA",
        file=sys.stderr,
    )


def draw(events: list, folder: Path) -> None:
    """Write waits, holds and their histograms; all of it, or nothing."""
    from lorelab.vmalock.pages import charts
    from lorelab.vmalock.recording import report

    tables = {"wait": report.waits(events), "held": report.holds(events)}
    with atomic.new_folder(folder) as part:
        for name, table in tables.items():
            table.to_csv(part / f"{name}.csv", index=False)
            charts.times(table, name).save(part / f"{name}.svg")
