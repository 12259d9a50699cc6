"""Charts of a sweep's page."""

import numpy as np
import pandas as pd

from lorelab.sweep import page


def test_neighbours_are_drawn_as_their_mean(tmp_path, monkeypatch):
    """Altair refuses more than 5,000 rows; a page of 6,000 points had none."""
    monkeypatch.setattr(page, "_drawn_over", lambda journal: ["n"])
    n = np.arange(6000)
    table = tmp_path / "table.parquet"
    pd.DataFrame({"n": n, "counter": "c", "unit": "u", "value": 2.0 * n}).to_parquet(table)
    [(key, means)] = page._means(None, table)
    assert key == ("c", "u")
    assert len(means) == page.MOST_PLACES
    assert means["value"].mean() == (2.0 * n).mean()
    assert np.allclose(means["value"], 2 * means["n"], atol=2 * 6000 / page.MOST_PLACES)
