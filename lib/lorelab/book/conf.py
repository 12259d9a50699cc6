"""Sphinx's configuration, out of Jupyter Book's: book/_config.yml stays what describes the book."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from lorelab.errors import BadInput

SPHINX = {
    "title": "html_title",
    "author": "author",
    "copyright": "copyright",
    "only_build_toc_files": "external_toc_exclude_missing",
    "execute.execute_notebooks": "nb_execution_mode",
    "parse.myst_enable_extensions": "myst_enable_extensions",
}
"""Keys of _config.yml, those of `sphinx.config` apart, and what Sphinx calls them."""
THEME = {
    "html.home_page_in_navbar": "home_page_in_toc",
    "html.use_edit_page_button": "use_edit_page_button",
    "html.use_issues_button": "use_issues_button",
    "html.use_repository_button": "use_repository_button",
}
"""Those that are options of the theme."""
JUPYTER_BOOK = {
    "external_toc_path": "_toc.yml",
    "html_sourcelink_suffix": "",
    "html_theme": "sphinx_book_theme",
    "numfig": True,
    "pygments_style": "sphinx",
    "suppress_warnings": ["myst.domains"],
}
"""What Jupyter Book 1 says where _config.yml says nothing, as far as Sphinx would say another."""


def settings(file: Path) -> dict[str, Any]:
    """What `jupyter-book config sphinx` makes of a _config.yml, less what only LaTeX reads.

    Raises
    ------
    BadInput
        A key has no translation here.
    """
    config = yaml.safe_load(file.read_text())
    own = config.get("sphinx", {}).pop("config", {})
    values = dict(_flat(config))
    if unknown := values.keys() - SPHINX.keys() - THEME.keys():
        raise BadInput(f"{file}: {min(unknown)} is not translated for Sphinx (lorelab.book.conf)")
    theme = {"search_bar_text": "Search this book..."}
    theme |= {name: values[key] for key, name in THEME.items() if key in values}
    translated = {name: values[key] for key, name in SPHINX.items() if key in values}
    return {**JUPYTER_BOOK, "html_theme_options": theme, **translated, **own}


def _flat(config: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Keys of a tree, joined by dots, with their values."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield above + key, value
