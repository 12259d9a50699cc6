"""Printed figures, changed."""

import pytest

from lorelab.damon import figures
from lorelab.judging import threads

REAL = threads.figures("damon")


@pytest.fixture
def edited(monkeypatch):
    """Put other figures in the thread's place: id to value."""

    def edit(values: dict[str, float], **columns: dict[str, str]) -> None:
        rows = REAL.copy()
        for id, value in values.items():
            assert id in rows.index
            rows.loc[id, "value"] = value
        for column, given in columns.items():
            for id, text in given.items():
                rows.loc[id, column] = text
        monkeypatch.setattr(threads, "figures", lambda design: rows)
        figures.table.cache_clear()

    yield edit
    monkeypatch.undo()
    figures.table.cache_clear()
