"""The commands `lorelab damon FILE` and `lorelab lab recordings`: recordings read, and made."""

import sys
from pathlib import Path

import click

from lorelab import atomic
from lorelab.damon.recording.recording import Recording, read


@click.command("damon")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path),
    help="Write snapshots, windows and heat map of each target here, as CSV and SVG.",
)
def command(file: Path, folder: Path | None) -> None:
    """Summarise a recording of DAMON: damo's damon.data, or perf script text."""
    from lorelab.damon.recording import report  # compiles kernels, which no other command needs

    recordings = read(file)
    if folder is not None:
        draw(recordings, folder)
    report.summary(recordings).to_csv(sys.stdout, index=False)


@click.command("recordings")
def lab_command() -> None:
    """Have damo make the recordings in data/recordings again, in the guest."""
    from lorelab.damon.recording import make  # takes the laboratory, which reading a file does not

    for file in make.make():
        print(f"made {file}", file=sys.stderr)


def draw(recordings: list[Recording], folder: Path) -> None:
    """Write snapshots, windows and heat map of each target; all of it, or nothing."""
    with atomic.new_folder(folder) as part:
        for number, one in enumerate(recordings):
            _target(one, part, f"{number}-target-{one.target}")


def _target(one: Recording, folder: Path, name: str) -> None:
    from lorelab.damon.pages import charts
    from lorelab.damon.recording import access, report

    report.snapshots(one).to_csv(folder / f"{name}-snapshots.csv", index=False)
    report.windows(one).to_csv(folder / f"{name}-windows.csv", index=False)
    for table in (access.percentiles, access.histograms):
        if len(rows := table(one)):
            rows.to_csv(folder / f"{name}-{table.__name__}.csv", index=False)
    title = f"Target {one.target}" + (one.of and f", {one.of}")
    charts.over_time(one, title).save(folder / f"{name}-windows.svg")
    if len(one.low):
        map = report.heatmap(one)
        charts.heat(map, title).save(folder / f"{name}-heatmap.svg")
