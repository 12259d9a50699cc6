"""The table of a sweep, and a page with a chart of each counter over what was swept."""

import html
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lorelab import atomic
from lorelab.errors import RunFailed
from lorelab.running.sweep.journal import Journal
from lorelab.running.sweep.points import COLUMNS
from lorelab.showing import charts

AT_ONCE = 5_000
"""Points in memory while the table is written."""
ROWS_AT_ONCE = 200_000
"""Rows in memory while it is read."""
MOST_CHARTS = 24
MOST_COLOURS = 6
MOST_PLACES = 500
"""Along the axis of a chart; of more values, neighbours are drawn as their mean."""

PAGE = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
td, th {{ padding: 0 1em 0 0; text-align: left }}</style>
<h1>{title}</h1>
{body}
</html>
"""


def write(journal: Journal, failed: dict[int, str]) -> tuple[Path, Path]:
    """Write table.parquet and index.html of what is finished; returns both.

    The table has a row for each point, step and counter: the swept parameters as typed (numbers
    where all their values are), then `variant`, `step`, `counter`, `unit`, `value`.

    Raises
    ------
    RunFailed
        The disk is full; the points stay, and nothing is left half-written.
    """
    table, page = journal.folder / "table.parquet", journal.folder / "index.html"
    try:
        with atomic.folder(journal.folder) as folder:
            part = folder / table.name
            with pq.ParquetWriter(part, _schema(journal)) as writer:
                for frame in _frames(journal):
                    writer.write_table(pa.Table.from_pandas(frame, _schema(journal), False))
            part.replace(table)
            (folder / page.name).write_text(_page(journal, table, failed))
            (folder / page.name).replace(page)
    except OSError as error:
        raise RunFailed(
            f"cannot write {table}: {error.strerror}; the points are kept, make room and run again"
        ) from None
    return table, page


def _schema(journal: Journal) -> pa.Schema:
    kinds = {"step": pa.int64(), "value": pa.float64()}
    swept = [(name, _kind(journal, name)) for name in journal.plan.swept]
    return pa.schema([*swept, *((name, kinds.get(name, pa.string())) for name in COLUMNS)])


def _kind(journal: Journal, name: str) -> pa.DataType:
    place = list(journal.plan.swept).index(name)
    drawn = journal.plan.drawn
    values = journal.plan.swept[name] if drawn is None else [row[place] for row in drawn]
    for read, kind in ((int, pa.int64()), (float, pa.float64())):
        try:
            for value in values:
                read(value)
        except ValueError:
            continue
        return kind
    return pa.string()


def _frames(journal: Journal) -> Iterator[pd.DataFrame]:
    schema = _schema(journal)
    readers = {
        name: {pa.int64(): int, pa.float64(): float}.get(schema.field(name).type, str)
        for name in journal.plan.swept
    }
    points = journal.points()
    while batch := list(islice(points, AT_ONCE)):
        rows: list[list[Any]] = []
        for point in batch:
            values = journal.plan[point.number]
            swept = [readers[name](values[name]) for name in readers]
            rows += [[*swept, *row] for row in point.rows]
        yield pd.DataFrame(rows, columns=[*readers, *COLUMNS])


def _page(journal: Journal, table: Path, failed: dict[int, str]) -> str:
    plan = journal.plan
    title = html.escape(f"{plan.target}: {len(journal.done):,} of {len(plan):,} points")
    body = [f"<p>All of them are in <code>{table.name}</code>.</p>"]
    if failed:
        rows = "".join(
            f"<tr><td>{html.escape(str(plan[number]))}</td><td>{html.escape(why)}</td></tr>"
            for number, why in failed.items()
        )
        body.append(f"<h2>{len(failed)} failed</h2><table>{rows}</table>")
    if plan.target.endswith(".ipynb"):
        body.append("<h2>Notebooks</h2><ul>")
        for number in sorted(journal.done):
            setting = ", ".join(f"{name}={value}" for name, value in plan[number].items())
            body.append(f'<li><a href="{number:06}.html">{html.escape(setting)}</a></li>')
        body.append("</ul>")
    elif journal.done and plan.swept:
        for (counter, unit), means in _means(journal, table):
            body.append(f"<h2>{html.escape(counter)}</h2>")
            body.append(charts.render(_chart(journal, counter, unit, means).to_dict())["text/html"])
    return PAGE.format(title=title, body="\n".join(body))


def _means(journal: Journal, table: Path) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Each counter's mean over steps, by the two parameters with the most values.

    The table is read a piece at a time, for that of a million points is larger than memory.
    """
    by = _drawn_over(journal)
    file = pq.ParquetFile(table)
    drawn_at = _places(file, by[0])
    keys = ["counter", "unit", *by]
    total = None
    for batch in file.iter_batches(ROWS_AT_ONCE, columns=[*keys, "value"]):
        rows = batch.to_pandas()
        rows[by[0]] = drawn_at(rows[by[0]])
        sums = rows.groupby(keys, sort=False)["value"].agg(["sum", "count"])
        if total is not None:
            sums = pd.concat([total, sums]).groupby(level=keys, sort=False).sum()
        total = sums
    means = (total["sum"] / total["count"]).rename("value").reset_index()
    for key, group in islice(means.groupby(["counter", "unit"], sort=False), MOST_CHARTS):
        yield key, group[[*by, "value"]].sort_values(by, ignore_index=True)


def _places(file: pq.ParquetFile, axis: str) -> Callable[[pd.Series], pd.Series]:
    """Where on the axis a value is drawn: at itself, or in the middle of its neighbours."""
    if pa.types.is_string(file.schema_arrow.field(axis).type):
        return lambda values: values
    column = file.read([axis])[axis]
    if pc.count_distinct(column).as_py() <= MOST_PLACES:
        return lambda values: values
    low, high = pc.min_max(column).as_py().values()
    width = (high - low) / MOST_PLACES

    def middle(values: pd.Series) -> pd.Series:
        place = ((values - low) // width).clip(upper=MOST_PLACES - 1)
        return low + (place + 0.5) * width

    return middle


def _drawn_over(journal: Journal) -> list[str]:
    """Parameter along the axis, and the one that is told by colour, if few enough are."""
    drawn = journal.plan.drawn
    numbers = {
        name: len(values) if drawn is None else len({row[place] for row in drawn})
        for place, (name, values) in enumerate(journal.plan.swept.items())
    }
    schema = _schema(journal)
    numeric = [name for name in numbers if schema.field(name).type != pa.string()]
    axis = max(numeric or numbers, key=numbers.get)
    others = [name for name in numbers if name != axis and 1 < numbers[name] <= MOST_COLOURS]
    return [axis, *others[:1]]


def _chart(journal: Journal, counter: str, unit: str, means: pd.DataFrame) -> alt.Chart:
    by = _drawn_over(journal)
    numeric = _schema(journal).field(by[0]).type != pa.string()
    encoded = {
        "x": alt.X(f"{by[0]}:{'Q' if numeric else 'N'}").scale(zero=False),
        "y": alt.Y("value:Q").title(f"{counter} ({unit})"),
        "tooltip": [*by, "value"],
    }
    if len(by) > 1:
        encoded["color"] = alt.Color(f"{by[1]}:N")
    spread = journal.plan.drawn is not None
    marked = alt.Chart(means).mark_point() if spread else alt.Chart(means).mark_line(point=True)
    rest = [name for name in journal.plan.swept if name not in by]
    also = f", over {', '.join(rest)}" if rest else ""
    title = alt.TitleParams(counter, subtitle=f"mean over steps{also}")
    return marked.encode(**encoded).properties(title=title)
