"""Printed figures, changed."""

import pytest

from lorelab.judging import threads
from lorelab.swap.thread import cost


@pytest.fixture
def altered(monkeypatch):
    """Change printed figures as the checks see them."""

    def alter(**changes):
        rows = threads.figures("swap")
        for id, value in changes.items():
            rows.loc[id.replace("_", "-"), "value"] = value
        monkeypatch.setattr(threads, "figures", lambda design: rows)
        cost.fit.cache_clear()

    yield alter
    cost.fit.cache_clear()
