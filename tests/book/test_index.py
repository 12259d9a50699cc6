"""The lists at the end of the book are those of its pages."""

import json

from lorelab.book import index


def page(folder, name, text):
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": [text]}
    (folder / "notebooks/a").mkdir(parents=True, exist_ok=True)
    (folder / f"notebooks/{name}.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )


def book(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/_toc.yml").write_text(
        "format: jb-book\nroot: a/one\nparts:\n  - chapters:\n      - file: a/two\n"
    )
    letter = "https://lore.kernel.org/r/1"
    page(tmp_path, "a/one", f"`walk()` and `__walk()`, by [a letter]({letter})")
    page(tmp_path, "a/two", f"`walk()` again, [that letter]({letter}), [else](https://example.org)")
    return tmp_path


def test_functions_have_their_pages(tmp_path):
    found = index.functions(book(tmp_path)).set_index("function")["pages"]
    assert found["<code>walk()</code>"] == ["a/one", "a/two"]
    assert found["<code>__walk()</code>"] == ["a/one"]


def test_a_source_is_listed_once_by_its_first_name(tmp_path):
    found = index.sources(["lore.kernel.org"], book(tmp_path))
    assert len(found) == 1 and "a letter" in found["source"][0]
    assert found["pages"][0] == ["a/one", "a/two"]
