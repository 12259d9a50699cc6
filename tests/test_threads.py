"""The printed figures: one row each, with a place, a unit and where it was read."""

import pytest

from lorelab import threads
from lorelab.errors import RunFailed
from lorelab.experiments import DESIGNS


@pytest.mark.parametrize("design", DESIGNS)
def test_each_figure_says_where_it_stands(design):
    rows = threads.figures(design)
    assert rows.index.is_unique
    assert set(rows["source"]) <= {"thread", "follow-up"}
    assert set(rows["seen"]) <= {"thread file", "list archive"}
    assert (rows[["author", "date", "place", "quantity", "unit"]] != "").all(axis=None)
    assert (rows.loc[rows["source"] == "thread", "message"] != "").all()
    assert rows["value"].notna().all()


def test_a_missing_file_says_how_to_get_it_back():
    with pytest.raises(RunFailed, match="git checkout data/threads"):
        threads.figures("nothing")
