"""What a notebook asks of the library itself: its parameters checked, a function's source shown.

`import lorelab` brings this along, so what is heavy is imported by the function that needs it.
"""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lorelab.params import Params


def check(name: str, **given: Any) -> "Params":
    """Check a notebook's parameters, in the line after its `parameters` cell.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`. `lorelab run` reads it here, before any work.
    **given
        The notebook's parameters, by the experiment's own names.

    Returns
    -------
    Params
        What the experiment's `simulate` and `measure` take.

    Raises
    ------
    BadInput
        Names each bad parameter, what it got and what it takes.
    """
    from lorelab.experiments import experiment
    from lorelab.params import parse

    return parse(experiment(name).Params, given)


class Source:
    """The source of one or more functions, shown as code in a notebook and in the book."""

    def __init__(self, *functions: Callable):
        # A numba function keeps the Python one it was compiled from.
        sources = [inspect.getsource(getattr(one, "py_func", one)) for one in functions]
        self.text = "\n\n".join(source.rstrip() for source in sources)

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"


def show(*functions: Callable) -> Source:
    """Show the source of library functions, so that text and code can't part."""
    return Source(*functions)
