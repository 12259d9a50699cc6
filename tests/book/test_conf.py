"""Sphinx's settings are those that `jupyter-book config sphinx` 1.0.4 made of the same file."""

import pytest

from lorelab.book import build, conf
from lorelab.errors import BadInput

BOOK = build.ROOT / "book/_config.yml"


def test_each_key_has_jupyter_books_translation():
    """These lines are Jupyter Book's own, for book/_config.yml."""
    settings = conf.settings(BOOK)
    assert settings["html_title"] == "lorelab"
    assert settings["copyright"] == "2026, GPL-2.0-only"
    assert settings["external_toc_path"] == "_toc.yml"
    assert settings["external_toc_exclude_missing"] is True
    assert settings["nb_execution_mode"] == "off"
    assert settings["myst_enable_extensions"] == ["amsmath", "colon_fence", "deflist", "dollarmath"]
    assert settings["html_theme_options"] == {
        "search_bar_text": "Search this book...",
        "home_page_in_toc": True,
        "use_repository_button": False,
        "use_edit_page_button": False,
        "use_issues_button": False,
    }


def test_what_stands_under_sphinx_is_passed_on_and_overrides(tmp_path):
    file = tmp_path / "_config.yml"
    file.write_text("title: a\nsphinx: {config: {html_title: b, numfig: false, new: [1]}}\n")
    settings = conf.settings(file)
    assert [settings[name] for name in ("html_title", "numfig", "new")] == ["b", False, [1]]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("logo: a.svg", "logo"),
        ("html: {favicon: a.svg}", r"html\.favicon"),
        ("sphinx: {extra_extensions: [a]}", r"sphinx\.extra_extensions"),
    ],
)
def test_a_key_without_translation_is_named(tmp_path, text, named):
    """Else it would have no effect, and nobody would be told."""
    file = tmp_path / "_config.yml"
    file.write_text(text)
    with pytest.raises(BadInput, match=rf"_config\.yml: {named} is not translated"):
        conf.settings(file)
