"""A page that was run with other values says so: the numbers in its text are of the defaults.

What a cell prints is of the run. The text between the cells was written for the default values, and
nothing computes it again. So a run with other values begins with a line that names them, and in its
HTML every paragraph that holds a result of the default values is set back.
"""

import re
from collections.abc import Mapping
from typing import Any

from lorelab.params import format_value

NO_RESULT = re.compile(
    r"```.*?```|`[^`\n]*`|<!--.*?-->|\$\$.*?\$\$|\$[^$\n]+\$|(?<=\])\([^)]*\)|\S+://\S+"
    r"|\[Figure \d+\]|\b(?:19|20)\d\d\b|\b\d+\.\d+\.\d+\S*"
    r"|\b[2-7]\.\d{1,2}\b(?!\s*(?:%|per cent|points|times|[KMGT]i?B\b|[mun]?s\b))",
    re.DOTALL,
)
"""Code, marks, formulas, addresses, figures, years and releases of Linux: numbers of no run."""
ASSERTED = re.compile(r"<!-- assert: ")
FROM = re.compile(r"<!-- ([\d., ]+) from: ")
"""Numbers that the page names a source for: constants, or another page's."""
RESULT = re.compile(r"\d\s?(?:%|per cent|points|times)|\d\.\d|\d{3}|\d,\d{3}")
BLOCK = re.compile(r"(?:```.*?```|(?!\n\n).)+", re.DOTALL)
NO_PROSE = re.compile(r"#+ |```|    |\([\w-]+\)=|<")
SET_BACK = '<div class="of-defaults" title="of the default values">\n\n{}\n\n</div>'
STYLE = """<style>
.of-defaults { border-left: 3px solid #999; padding-left: 0.8em; color: #767676; }
</style>"""


def changed(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Values that differ from the defaults, each beside its default.

    Examples
    --------
    >>> changed({"seed": 7, "mib": 64}, {"seed": 1, "mib": 64, "options": ""})
    {'seed': (7, 1)}
    """
    return {n: (v, defaults[n]) for n, v in values.items() if v != defaults[n]}


def line(others: Mapping[str, tuple[Any, Any]]) -> str:
    """What a run with other values begins with, as Markdown.

    Examples
    --------
    >>> print(line({"seed": (7, 1), "options": ("-a", "")}))
    **This page was run with `seed=7` (default `1`) and `options=-a` (default `""`).** Tables and
    charts are of these values. The numbers in the text between them are of the defaults; in the
    HTML these paragraphs are grey.
    """
    *most, last = (
        f"`{name}={format_value(new)}` (default `{format_value(old)}`)"
        for name, (new, old) in others.items()
    )
    named = f"{', '.join(most)} and {last}" if most else last
    return (
        f"**This page was run with {named}.** Tables and\ncharts are of these values. The numbers "
        "in the text between them are of the defaults; in the\nHTML these paragraphs are grey."
    )


def set_back(source: str) -> str:
    """The text of a page, its paragraphs that hold a number set back.

    Examples
    --------
    >>> print(set_back("## 6.12\\n\\nIt splits 92 %.\\n\\nOn 6.12 it splits none."))
    ## 6.12
    <BLANKLINE>
    <div class="of-defaults" title="of the default values">
    <BLANKLINE>
    It splits 92 %.
    <BLANKLINE>
    </div>
    <BLANKLINE>
    On 6.12 it splits none.
    """
    blocks = (block.strip("\n") for block in BLOCK.findall(source))
    return "\n\n".join(SET_BACK.format(b) if holds_number(b) else b for b in blocks if b)


def holds_number(block: str) -> bool:
    """Tell whether a paragraph, list or table has a number, or an assert, of the default values.

    Examples
    --------
    >>> texts = ("It takes 3 %.", "In 2014, by 3.15.", "    92 of 100", "960 <!-- 960 from: x -->")
    >>> [holds_number(text) for text in texts]
    [True, False, False, False]
    """
    if NO_PROSE.match(block):
        return False
    text = NO_RESULT.sub(" ", block)
    for named in FROM.findall(block):
        for number in named.replace(", ", " ").split():
            text = re.sub(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", " ", text)
    return bool(ASSERTED.search(block) or RESULT.search(text))
