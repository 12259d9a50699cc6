"""Rerun a notebook with other parameters: checked first, then papermill, then one HTML file."""

import ast
import copy
import io
import logging
import re
import tokenize
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pandas as pd
import papermill
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from pydantic import TypeAdapter, ValidationError

from lorelab import atomic, params
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import experiment
from lorelab.running import defaults
from lorelab.running.jupyter_kernel import OUTPUTS_WITHIN_S, STARTS_WITHIN_S, OwnKernel, death
from lorelab.showing.notebook import KERNEL_SOURCES, kernel_source

ROOT = Path(__file__).parents[3]
TYPES = {"bool": bool, "float": float, "int": int, "str": str}
"""Annotations that a cell tagged `parameters` may use."""
PYTHON = re.compile(r"(?<![a-z])[ix]?py(?:thon|spark|py)?(?![a-z])")
"""In the name of a kernel that says no language."""
ATTACHED = re.compile(r"(?<!\w)attachment:(?=\S)")
MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)

# It warns of a parameter whose default has a "=" that it can't read it, and sets it all the same.
logging.getLogger("papermill").setLevel(logging.ERROR)

# nbconvert's page asks three CDNs; this one carries its MathJax, and that only if it has formulas.
PAGE = """{% extends "lab/index.html.j2" %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_js_mathjax %}
{% if resources.mathjax %}
<script>window.MathJax = {tex: {inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]]}};</script>
<script>{{ resources.mathjax }}</script>
{% endif %}
{% endblock %}
"""


class Declared(NamedTuple):
    """A parameter as the cell tagged `parameters` declares it."""

    type: str
    """Its annotation, else the type of its default; empty where that is no literal."""
    default: Any
    """None where it is no literal."""
    help: str
    """The comment at the end of its line."""


def run(
    notebook: Path, texts: dict[str, str], out: Path | None = None, bar: bool = True
) -> tuple[Path, Path]:
    """Run `notebook` with other parameters.

    Parameters
    ----------
    notebook : Path
        A notebook with a cell tagged `parameters`.
    texts : dict
        Parameters as typed by the reader.
    out : Path, optional
        Where the notebook goes; the HTML goes beside it. By default in build/runs, named after the
        notebook and the parameters.
    bar : bool
        Whether a bar on stderr says how far it is.

    Returns
    -------
    tuple of Path
        The notebook and the HTML file. Both are written, or neither.

    Raises
    ------
    BadInput
        Before any work: no such notebook, an unknown name, a wrong type, a value out of range; or
        `out` is no name of a notebook.
    RunFailed
        A cell failed, which is named, or killed the kernel.
    """
    values = checked(notebook, texts)
    if out and out.suffix != ".ipynb":
        raise BadInput(f"-o {out}: takes a name that ends in .ipynb")
    out = out or ROOT / "build/runs" / _named(notebook, texts)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with atomic.folder(out.parent) as folder:
            done = _execute(notebook, values, folder / out.name, bar)
            page = folder / out.with_suffix(".html").name
            page.write_text(_said_of(notebook, values, done))
            return done.replace(out), page.replace(out.with_suffix(".html"))
    except OSError as error:
        raise RunFailed(f"cannot write {out}: {error.strerror}; give -o another place") from None


def _said_of(notebook: Path, values: dict[str, Any], done: Path) -> str:
    """The HTML of a run, which names other values than the defaults as its notebook then does."""
    ran = nbformat.read(done, as_version=4)
    declared = {name: one.default for name, one in _declared(_load(notebook)).items()}
    others = defaults.changed(values, declared)
    if not others:
        return html(ran, notebook.stem)
    page = copy.deepcopy(ran)
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = defaults.set_back(cell.source)
    for one, style in ((ran, ""), (page, defaults.STYLE)):
        text = "\n\n".join(filter(None, [style, defaults.line(others)]))
        one.cells.insert(0, nbformat.v4.new_markdown_cell(text))
        if one.nbformat_minor < 5:  # before cells had ids
            del one.cells[0]["id"]
    nbformat.write(ran, done)
    return html(page, notebook.stem)


def checked(notebook: Path, texts: dict[str, str]) -> dict[str, Any]:
    """Read `texts` by the notebook's annotations, and by the `Params` it checks itself against."""
    content = _load(notebook)
    declared = _declared(content)
    if unknown := [name for name in texts if name not in declared]:
        takes = ", ".join(declared) or "none: no cell is tagged `parameters`"
        raise BadInput(f"unknown parameter {unknown[0]}: {notebook} takes {takes}")
    values = {name: _typed(name, _found(text), declared[name]) for name, text in texts.items()}
    everything = {**{name: one.default for name, one in declared.items()}, **values}
    for name, arguments in _checks(content):
        given_to = {a: everything[v] for a, v in arguments.items() if v in everything}
        params.parse(experiment(name).Params, given_to)
    if (source := _kernel_source(content)) in everything:
        kernel_source(everything[source])
    return values


def described(notebook: Path) -> pd.DataFrame:
    """What a notebook takes: columns parameter, type, default, unit, takes, meaning.

    Unit and range are those of the experiment that the notebook checks the parameter against;
    where the check is of the page's own, they are empty.

    Raises
    ------
    BadInput
        It is no notebook.
    """
    content = _load(notebook)
    fields = {
        variable: experiment(name).Params.model_fields[argument]
        for name, arguments in _checks(content)
        for argument, variable in arguments.items()
    }
    rows = []
    for name, parameter in _declared(content).items():
        field = fields.get(name)
        rows.append(
            {
                "parameter": name,
                "type": parameter.type,
                "default": ""
                if parameter.default is None
                else params.format_value(parameter.default),
                "unit": field.json_schema_extra["unit"] if field else "",
                "takes": params.describe_range(field) if field else "",
                "meaning": parameter.help,
            }
        )
        if name == _kernel_source(content):
            rows[-1]["takes"] = ", ".join(KERNEL_SOURCES)
    columns = ["parameter", "type", "default", "unit", "takes", "meaning"]
    return pd.DataFrame(rows, columns=columns)


def html(notebook: NotebookNode, title: str) -> str:
    """A notebook as one HTML file that asks nothing of the network."""
    formulas = any("$" in cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    folder = Path(find_spec("sphinx-mathjax-offline").origin).parent
    mathjax = (folder / "static/mathjax/tex-svg.js").read_text() if formulas else ""
    resources = {"metadata": {"name": title}, "mathjax": mathjax}
    shown = copy.deepcopy(notebook)
    for cell in shown.cells:
        cell.source = _without_lost(cell.source, list(cell.get("attachments", {})))
    return HTMLExporter(raw_template=PAGE).from_notebook_node(shown, resources)[0]


def _without_lost(source: str, attached: list[str]) -> str:
    """A cell's text without references to attachments that it has not, where nbconvert ends."""
    kept = tuple(attached)
    return ATTACHED.sub(
        lambda match: match[0] if source.startswith(kept, match.end()) else "", source
    )


def _load(notebook: Path) -> NotebookNode:
    """A notebook that can run here: of this format, and in Python."""
    try:
        content = nbformat.read(notebook, as_version=4)
        # read() tells only of what it can't convert.
        nbformat.validate(content, relax_add_props=True)
    except OSError as error:
        raise BadInput(f"cannot read {notebook}: {error.strerror}") from None
    except AttributeError:  # of a list, say
        raise BadInput(f"{notebook} is not a notebook, but JSON of another kind") from None
    except (ValueError, RecursionError, nbformat.ValidationError) as error:
        why = str(error).partition("\n")[0][:80]
        raise BadInput(f"{notebook} is not a notebook, or none that is read here: {why}") from None
    languages = (
        (content.metadata.get(part) or {}).get(key)
        for part, key in (("kernelspec", "language"), ("language_info", "name"))
    )
    language = next(filter(None, languages), None)
    if "python" not in (language or "python").lower():  # ipython is written, too
        raise BadInput(f"{notebook} is written in {language}; lorelab run takes Python alone")
    spec = content.metadata.get("kernelspec") or {}
    names = [spec[key] for key in ("name", "display_name") if spec.get(key)]
    if language is None and names and not PYTHON.search(" ".join(names).lower()):
        raise BadInput(
            f"{notebook} is of the kernel {names[0]}, whose language it does not say; lorelab run "
            'takes Python alone: if it is that, set "language": "python" in its kernelspec'
        )
    return content


def _found(text: str) -> str:
    """The file of that name seen from here, for the notebook runs in its own folder."""
    path = Path(text)
    named = len(path.parts) > 1 or path.suffix
    return str(path.resolve()) if named and path.is_file() else text


def _declared(notebook: NotebookNode) -> dict[str, Declared]:
    """Parameters of the cell that is tagged so, in its order."""
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            assigned = (_assigned(MAGIC.sub("", cell.source), node) for node in _parsed(cell).body)
            return dict(filter(None, assigned))
    return {}


def _assigned(source: str, node: ast.stmt) -> tuple[str, Declared] | None:
    """The name that a statement gives a value, and what it says of it."""
    if isinstance(node, ast.AnnAssign) and node.value:
        target, annotation = node.target, ast.unparse(node.annotation)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, annotation = node.targets[0], ""
    else:
        return None
    if not isinstance(target, ast.Name):
        return None
    try:
        default = ast.literal_eval(node.value)
    except (ValueError, TypeError):  # such as {[]: 1}
        default = None
    inferred = "" if default is None else type(default).__name__
    return target.id, Declared(annotation or inferred, default, _comment(source, node.end_lineno))


def _comment(source: str, line: int) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token.string for token in tokens
                if token.type == tokenize.COMMENT and token.start[0] == line)  # fmt: skip
    return next(comments, "").lstrip("# ").rstrip()


def _typed(name: str, text: str, declared: Declared) -> Any:
    annotation = declared.type
    if annotation not in TYPES:
        raise BadInput(
            f"{name}: annotated {annotation or 'not at all'}, where lorelab run takes "
            f"{', '.join(TYPES)}"
        )
    try:
        return TypeAdapter(TYPES[annotation]).validate_python(text)
    except ValidationError:
        raise BadInput(f"{name}={text}: takes {annotation} ({declared.help})") from None


def _calls(notebook: NotebookNode, name: str) -> Iterator[tuple[ast.Module, ast.Call]]:
    """Calls of a function of `lorelab`, each with the cell that it is in."""
    for cell in map(_parsed, notebook.cells):
        for node in ast.walk(cell):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (name, f"lorelab.{name}"):
                yield cell, node


def _checks(notebook: NotebookNode) -> Iterator[tuple[str, dict[str, str]]]:
    """Calls of `lorelab.check`: the experiment, and the arguments that are variables, with these.

    Arguments are looked for in the call, and in a dictionary of the same cell that it is given.
    """
    for cell, call in _calls(notebook, "check"):
        if not call.args or not isinstance(call.args[0], ast.Constant):
            continue
        arguments = {}
        for keyword in call.keywords:
            if keyword.arg is not None and isinstance(keyword.value, ast.Name):
                arguments[keyword.arg] = keyword.value.id
            elif keyword.arg is None:
                arguments |= _entries(cell, ast.unparse(keyword.value))
        yield call.args[0].value, arguments


def _entries(cell: ast.Module, name: str) -> dict[str, str]:
    """Entries of the dictionary `name` of a cell whose values are variables."""
    variables = {}
    for node in ast.walk(cell):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)):
            continue
        if [ast.unparse(target) for target in node.targets] == [name]:
            entries = zip(node.value.keys, node.value.values, strict=True)
            variables |= {
                key.value: value.id for key, value in entries if isinstance(value, ast.Name)
            }
    return variables


def _kernel_source(notebook: NotebookNode) -> str | None:
    """The parameter that says whether a page boots a kernel, if it has one."""
    names = (call.args[0] for _, call in _calls(notebook, "kernel_source") if call.args)
    return next((name.id for name in names if isinstance(name, ast.Name)), None)


def _parsed(cell: NotebookNode) -> ast.Module:
    if cell.cell_type != "code":
        return ast.parse("")
    # A line of IPython's own, such as %matplotlib, is no Python.
    for source in (cell.source, MAGIC.sub(r"\1pass", cell.source)):
        try:
            return ast.parse(source)
        except SyntaxError:
            continue
    return ast.parse("")  # it will fail by itself


def _execute(notebook: Path, values: dict[str, Any], out: Path, bar: bool) -> Path:
    kernel = type("Kernel", (OwnKernel,), {})  # of this run, whose end it keeps
    try:
        papermill.execute_notebook(
            notebook,
            out,
            values,
            cwd=notebook.parent,
            kernel_name="python3",
            language="python",
            kernel_manager_class=kernel,
            progress_bar=bar,
            start_timeout=STARTS_WITHIN_S,
            iopub_timeout=OUTPUTS_WITHIN_S,
        )
    except PapermillExecutionError as error:
        failure = BadInput if error.ename == "BadInput" else RunFailed
        where = f"{notebook}, code cell [{error.exec_count}]"
        raise failure(f"{where}: {error.ename}: {error.evalue}") from None
    except RuntimeError as error:  # it died, or did not start
        why = error if kernel.ended is None else death(kernel.ended)
        raise RunFailed(f"{notebook}: {why}") from None
    except TimeoutError as error:  # an OSError, as those of writing are
        raise RunFailed(f"{notebook}: {str(error).partition(chr(10))[0]}") from None
    return out


def _named(notebook: Path, texts: dict[str, str]) -> str:
    folder = [notebook.resolve().parent.name] if notebook.resolve().parent.name else []
    words = [*folder, notebook.stem, *(f"{name}={value}" for name, value in texts.items())]
    return re.sub(r"[^\w.=-]+", "_", "-".join(words)) + ".ipynb"
