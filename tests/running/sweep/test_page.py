"""Charts of a sweep's page."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from lorelab.running.sweep import page


def _means(monkeypatch, tmp_path, rows, by):
    monkeypatch.setattr(page, "_drawn_over", lambda journal: by)
    table = tmp_path / "table.parquet"
    rows.to_parquet(table)
    return list(page._means(None, table))


def test_neighbours_are_drawn_as_their_mean(tmp_path, monkeypatch):
    """Altair refuses more than 5,000 rows; a page of 6,000 points had none."""
    n = np.arange(6000)
    rows = pd.DataFrame({"n": n, "counter": "c", "unit": "u", "value": 2.0 * n})
    [(key, means)] = _means(monkeypatch, tmp_path, rows, ["n"])
    assert key == ("c", "u")
    assert len(means) == page.MOST_PLACES
    assert means["value"].mean() == (2.0 * n).mean()
    assert np.allclose(means["value"], 2 * means["n"], atol=2 * 6000 / page.MOST_PLACES)


def test_a_table_read_in_pieces_has_the_same_means(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    number = 1000
    rows = pd.DataFrame(
        {
            "n": rng.integers(0, 40, number),
            "of": rng.choice(["a", "b"], number),
            "counter": rng.choice(["c", "d"], number),
            "unit": "u",
            "value": rng.integers(0, 100, number).astype(float),
        }
    )
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 7)
    found = _means(monkeypatch, tmp_path, rows, ["n", "of"])
    for (counter, _), means in found:
        alone = rows[rows["counter"] == counter].groupby(["n", "of"])["value"].mean()
        pd.testing.assert_series_equal(means.set_index(["n", "of"])["value"], alone)
    assert [counter for (counter, _), _ in found] == list(rows["counter"].unique())


def test_no_piece_is_larger_than_it_is_said_to_be(tmp_path, monkeypatch):
    rows = pd.DataFrame({"n": [1, 2] * 500, "counter": "c", "unit": "u", "value": 1.0})
    sizes = []
    read = pq.ParquetFile.iter_batches

    def noted(self, *given, **more):
        for batch in read(self, *given, **more):
            sizes.append(len(batch))
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 100)
    [(_, means)] = _means(monkeypatch, tmp_path, rows, ["n"])
    assert max(sizes) <= 100 and sum(sizes) == 1000
    assert means["value"].tolist() == [1.0, 1.0]
