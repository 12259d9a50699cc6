"""What a reader of the book need not see is folded away: set-up, checks of parameters, asserts.

The cells run, and can be opened. A cell is folded for what it does, so no page has to say so; the
tags `hide-input`, `hide-output` and `hide-cell` of Jupyter Book fold any other. The cell tagged
`parameters` stays in sight.
"""

import ast

from nbformat import NotebookNode

TAGS = {"hide-input", "hide-cell", "hide-output", "remove-input", "remove-cell", "parameters"}
SET_UP = {"lorelab.check", "check", "pd.set_option"}


def fold(notebook: NotebookNode) -> None:
    """Tag the cells of set-up, checks and asserts alone, in place, for Jupyter Book to fold."""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and not TAGS & set(tags) and _folds(cell):
            cell.metadata["tags"] = [*tags, "hide-input" if cell.outputs else "hide-cell"]


def _folds(cell: NotebookNode) -> bool:
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:
        return False  # a magic
    if not statements:
        return False
    # What ends in an assert and shows nothing only leads up to it.
    checks = isinstance(statements[-1], ast.Assert) and not cell.outputs
    return checks or all(map(_set_up, statements))


def _set_up(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr | ast.Assign):
        call = statement.value
        return isinstance(call, ast.Call) and ast.unparse(call.func) in SET_UP
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert)
