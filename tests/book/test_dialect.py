"""The dialect is seen where a reader reads it, and nowhere else."""

import json

import click
import pytest

from lorelab import cli
from lorelab.book.dialect import INSTEAD, dialect, dialect_words


def page(folder, prose="", slide=(), **outputs):
    data = {name.replace("_", "/"): text for name, text in outputs.items()}
    cells = [
        {"cell_type": "markdown", "source": [prose], "metadata": {"slide": dict(slide)}},
        {"cell_type": "code", "source": ["# hangs on"], "outputs": [{"data": data}]},
    ]
    file = folder / "page.ipynb"
    file.write_text(json.dumps({"cells": cells}))
    return list(dialect(file))


@pytest.mark.parametrize(
    "said",
    [
        {"prose": "The share hangs\non seven numbers."},
        {"text_html": "<table><th>what it hangs on</th></table>"},
        {"text_markdown": "It hangs on time."},
        {"text_plain": "Chart: What splitting hangs on"},
        {"slide": {"title": "What splitting hangs on"}},
        {"slide": {"text": ["- It hangs", "on time"]}},
    ],
)
def test_it_is_seen_in_prose_tables_captions_and_slides(tmp_path, said):
    [line] = page(tmp_path, **said)
    assert "(depend on)" in line
    assert "page.ipynb" in line


def test_code_and_addresses_are_left_alone(tmp_path):
    prose = "`hangs on`, [a mail](https://x.org/hangs on)<!-- hangs on -->\n```\nhangs on\n```"
    assert page(tmp_path, prose, text_html="<pre>hangs on</pre>", text_plain="hangs on") == []


@pytest.mark.parametrize("state", ["no verdict yet", "to be confirmed"])
def test_a_row_of_somebody_elses_words_is_left_alone(tmp_path, state):
    ours, theirs = "<tr><td>mended</td></tr>", f"<tr><td>whoever</td><td>{state}</td></tr>"
    [line] = page(tmp_path, text_html=f"<table>{ours}{theirs}</table>")
    assert "mended" in line and "whoever" not in line


def test_each_word_has_an_english_one():
    assert all(
        list(dialect_words(word)) for word in ("mended", "come around", "would have been refused")
    )
    assert not list(dialect_words(", ".join(INSTEAD.values())))
    assert not list(dialect_words("a defender, broad roadmaps, recommends, outdoors"))


def test_no_help_speaks_it():
    def helps(command, name):
        yield name, command.help or ""
        for option in command.params:
            yield f"{name} {option.name}", getattr(option, "help", None) or ""
        if isinstance(command, click.Group):
            for part in command.commands.values():
                yield from helps(part, f"{name} {part.name}")

    told = [
        (name, word) for name, text in helps(cli.cli, "lorelab") for word in dialect_words(text)
    ]
    assert told == []
