"""What a notebook asks of the library itself: its parameters checked, a function's source shown.

And what kernel pages share: a recorded run or one made now, where it came from, and all recorded
runs of an experiment against the model.

`import lorelab` brings this along, so what is heavy is imported by the function that needs it.
"""

import ast
import html
import inspect
import itertools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from lorelab.lab.records import Provenance, Record
    from lorelab.params import Params

PAPERMILL_HEADER = "# Parameters\n"
"""The first line of the cell that papermill puts after the one tagged `parameters`."""
KERNEL_SOURCES = ("recorded", "live")
"""What a page's parameter `kernel` takes."""


def check(name: str, **params: Any) -> "Params":
    """Check a notebook's parameters, in the line after its `parameters` cell.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`. `lorelab run` reads it here, before any work.
    **params
        The notebook's parameters, by the experiment's own names.

    Returns
    -------
    Params
        What the experiment's `simulate` and `measure` take.

    Raises
    ------
    BadInput
        Names each bad parameter, what it got and what it takes.

    Examples
    --------
    >>> check("swap/allocator-test", seed=2).seed
    2
    """
    from lorelab.experiments import experiment
    from lorelab.params import parse

    _refuse_unknown()
    return parse(experiment(name).Params, params)


def _refuse_unknown() -> None:
    """Refuse names that papermill put into the page and that its `parameters` cell does not have.

    papermill only warns of them, and would run the page with the defaults.
    """
    from lorelab.errors import BadInput

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cells = shell.user_ns.get("In", []) if shell is not None else []
    for own, put in itertools.pairwise(cells):
        if put.startswith(PAPERMILL_HEADER):
            known = _assigned(own)
            if unknown := [name for name in _assigned(put) if name not in known]:
                raise BadInput(f"unknown parameter {', '.join(unknown)}: takes {', '.join(known)}")


def _assigned(cell: str) -> list[str]:
    """Names that the lines of a cell set, in their order."""
    names = []
    for line in ast.parse(cell).body:
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names


def kernel_source(kernel: str) -> str:
    """Check a kernel page's parameter `kernel`, beside `check`: `recorded` or `live`.

    Raises
    ------
    BadInput
        It is neither.

    Examples
    --------
    >>> kernel_source("live")
    'live'
    >>> kernel_source("mine")
    Traceback (most recent call last):
    lorelab.errors.BadInput: kernel=mine: takes one of recorded, live
    """
    from lorelab.errors import BadInput

    if kernel not in KERNEL_SOURCES:
        raise BadInput(f"kernel={kernel}: takes one of {', '.join(KERNEL_SOURCES)}")
    return kernel


class Source:
    """The source of one or more functions, shown as code in a notebook and in the book.

    Below it stand the place of each, and the kernel function that it mirrors.
    """

    def __init__(self, *functions: Callable):
        from lorelab.showing.mirrors import place

        self.places = [at for one in functions if (at := place(one))]
        # A numba function keeps the Python one it was compiled from.
        sources = [inspect.getsource(getattr(one, "py_func", one)) for one in functions]
        self.text = "\n\n".join(source.rstrip() for source in sources)

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return "\n\n".join([f"```python\n{self.text}\n```", "  \n".join(self.places)]).rstrip()


def show(*functions: Callable) -> Source:
    """Show the source of library functions, so that text and code can't part.

    Examples
    --------
    >>> repr(show(wide)).splitlines()[0]
    'def wide(table: "pd.DataFrame") -> Wide:'
    """
    return Source(*functions)


def measured(name: str, params: "Params", kernel: str) -> "Record":
    """The kernel run that a page shows: a recorded one, or one made now.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`.
    params : Params
    kernel : str
        The page's parameter: `recorded`, or `live` to boot a kernel now.

    Raises
    ------
    BadInput
        `kernel` is neither, or no run with these parameters is recorded.

    Examples
    --------
    >>> params = check("fairzone/probed")
    >>> measured("fairzone/probed", params, "recorded").counters["source"].unique().tolist()
    ['kernel']
    """
    from lorelab.errors import BadInput
    from lorelab.experiments import experiment
    from lorelab.params import for_kernel, to_cli

    question = experiment(name)
    live = kernel_source(kernel) == "live"
    record = question.measure([for_kernel(params)])[0] if live else question.recorded(params)
    if record is None:
        raise BadInput(
            f"no recorded run of {name} with {to_cli(params)}: rerun with -p kernel=live"
        )
    return record


def provenance(*records: "Record", kernel: str = "recorded") -> "pd.DataFrame":
    """Where the counters of all records come from that a page mixes.

    Parameters
    ----------
    *records : Record
    kernel : str
        `recorded` or `live`, as the page was asked.

    Returns
    -------
    DataFrame
        A column for each kernel and machine among them, in the order of the records; rows `runs`
        (how many, and of which days), `kernel`, `patches`, `config`, `image`, `machine`, `tree`:
        what of patches, config and guest programs is no longer as it was then.

    Examples
    --------
    >>> record = measured("fairzone/probed", check("fairzone/probed"), "recorded")
    >>> provenance(record).index.tolist()
    ['runs', 'kernel', 'patches', 'config', 'image', 'machine', 'tree']
    """
    import pandas as pd

    alike: dict[tuple[str, ...], list] = {}
    for record in records:
        alike.setdefault(_origin(record.provenance), []).append(record.provenance.date.date())
    names = ("kernel", "patches", "config", "image", "machine", "tree")
    columns = [
        {"runs": f"{len(days)} {kernel}, {_days(days)}"} | dict(zip(names, origin, strict=True))
        for origin, days in alike.items()
    ]
    return pd.DataFrame(columns, index=range(1, len(columns) + 1)).T.rename_axis(columns="source")


def sources() -> "Wide":
    """Where all records come from that the page has read until here, as `provenance` says it."""
    from lorelab.lab import records

    return wide(provenance(*records.loaded()))


def _origin(source: "Provenance") -> tuple[str, ...]:
    from lorelab.lab import drift

    kernel = source.kernel
    package = f", {kernel.package} {kernel.package_version}" if kernel.package else ""
    patches = (
        f"{len(kernel.patches)}, digest {kernel.patches_sha256[:12]}" if kernel.patches else ""
    )
    config = f"{kernel.config}.config, digest {kernel.config_sha256[:12]}" if kernel.config else ""
    compiler = f", {kernel.compiler}" if kernel.compiler else ""
    return (
        f"{kernel.release}{package}",
        patches or "none of ours",
        config or "its own",
        f"digest {kernel.image_sha256[:12]}{compiler}",
        f"{source.qemu}, {source.accelerator}, icount {'on' if source.icount else 'off'}",
        drift.describe(source),
    )


def _days(days: list) -> str:
    ends = sorted({min(days), max(days)})
    return " to ".join(f"{day:%-d %B %Y}" for day in ends)


def against_model(name: str) -> "pd.DataFrame":
    """Every recorded run of an experiment against the model, as the experiment judges it.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`.

    Returns
    -------
    DataFrame
        A row for each parameters that were recorded: `parameters`, `patched` (whether the kernel
        was), `counters` judged (not those that have a mark), how many of them `agree`, the
        `verdict`, and the `method` by which it was reached.

    Examples
    --------
    >>> against_model("fairzone/probed")["verdict"].tolist()
    ['passed']
    """
    import pandas as pd

    from lorelab.experiments import experiment
    from lorelab.lab import records
    from lorelab.params import to_cli

    question = experiment(name)
    rows = []
    for params in records.recorded(question.name, question.Params):
        record = question.recorded(params)
        agreement = question.agree(params, record)
        rows.append(
            {
                "parameters": to_cli(params, " "),
                "patched": bool(record.provenance.kernel.patches),
                "counters": len(agreement.judged),
                "agree": int(agreement.judged["agrees"].sum()),
                "verdict": str(agreement.verdict),
                "method": agreement.method,
            }
        )
    return pd.DataFrame(rows)


def _box(table: str) -> str:
    """HTML of a table in a box of its own: it scrolls there, and no cell wraps."""
    return f'<div style="overflow-x: auto; white-space: nowrap">{table}</div>'


class Wide:
    """A table of many columns, on the page: it scrolls, and no cell wraps."""

    def __init__(self, table: "pd.DataFrame"):
        self.table = table

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        import pandas as pd

        with pd.option_context("display.max_colwidth", None):
            return _box(self.table._repr_html_())


def wide(table: "pd.DataFrame") -> Wide:
    """Show a table that is wider than the page: it scrolls inside its own box.

    Examples
    --------
    >>> import pandas as pd
    >>> wide(pd.DataFrame({"slots": [8]}))
       slots
    0      8
    """
    return Wide(table)


class Tables:
    """Tables one below the other, each under its title; their rows have no numbers.

    Parameters
    ----------
    tables : dict of DataFrame
        By title.
    """

    def __init__(self, tables: dict[str, "pd.DataFrame"]):
        self.tables = tables

    def __repr__(self) -> str:
        return f"Tables({', '.join(self.tables)})"

    def _repr_html_(self) -> str:
        return "".join(
            f'<p style="margin-top: 1em">{html.escape(title)}</p>'
            + _box(table.to_html(index=False, border=0))
            for title, table in self.tables.items()
        )
