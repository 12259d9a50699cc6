"""A bar shows while the first item is still being worked on, and never when all is quick."""

import io
import time

import pytest
from rich.console import Console

from lorelab import progress


@pytest.fixture
def terminal(monkeypatch):
    """What a terminal on stderr would show."""
    shown = io.StringIO()
    monkeypatch.setattr(
        progress, "Console", lambda stderr: Console(file=shown, force_terminal=True, width=80)
    )
    return shown


def test_a_slow_first_item_shows_a_bar(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    for _ in progress.track([1], "compiling"):
        time.sleep(0.5)
        assert "compiling" in terminal.getvalue()


def test_quick_work_shows_nothing(terminal):
    assert list(progress.track(range(5), "quick")) == [0, 1, 2, 3, 4]
    assert "quick" not in terminal.getvalue()


def test_no_terminal_no_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    for _ in progress.track([1], "unseen"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_an_error_goes_through(terminal):
    with pytest.raises(ZeroDivisionError):
        for _ in progress.track([0], "failing"):
            _ = 1 / 0
