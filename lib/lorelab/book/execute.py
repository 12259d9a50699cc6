"""Run a notebook in a kernel that notes which files of the checkout it read."""

import asyncio
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from lorelab.errors import RunFailed
from lorelab.running.jupyter_kernel import OUTPUTS_WITHIN_S, STARTS_WITHIN_S, OwnKernel, death

SECONDS_A_CELL = 900
"""No cell takes this long; one that does hangs."""
ASK = "import json, lorelab.book.watch; print(json.dumps(lorelab.book.watch.read({root!r})))"
"""One more cell, after the notebook's own: what was read?"""


@dataclass(frozen=True)
class Run:
    """What a run gave: outputs, one list per code cell, and what it read, relative to the root."""

    outputs: list[list[NotebookNode]]
    files: list[str]
    folders: list[str]
    packages: list[str]
    """Top-level names of what was imported, or looked for in vain."""


class _Watched(OwnKernel):
    """It notes which files it reads."""

    module = "lorelab.book.watch"


async def execute(
    notebook: NotebookNode, name: str, root: Path, progress: Callable[[int], None]
) -> Run:
    """Run `notebook` from top to bottom.

    Parameters
    ----------
    notebook : NotebookNode
        Gets its outputs in place.
    name : str
        Path of the notebook relative to `root`; it runs in that folder.
    root : Path
        The checkout.
    progress : callable
        Called with the number of cells done so far.

    Raises
    ------
    RunFailed
        A cell failed, hung, or killed the kernel; names the notebook and the cell.
    """
    kernel = type("Kernel", (_Watched,), {})  # of this run, whose end it keeps
    cells = [*notebook.cells, new_code_cell(ASK.format(root=str(root)))]
    client = NotebookClient(
        NotebookNode(notebook, cells=cells),
        kernel_manager_class=kernel,
        resources={"metadata": {"path": str((root / name).parent)}},
        timeout=SECONDS_A_CELL,
        startup_timeout=STARTS_WITHIN_S,
        iopub_timeout=OUTPUTS_WITHIN_S,
        shutdown_kernel="immediate",
        record_timing=False,
        coalesce_streams=True,
    )
    done = 0

    def started(cell: NotebookNode, cell_index: int) -> None:
        nonlocal done
        done = cell_index
        progress(cell_index)

    client.on_notebook_start = _leave_signals
    client.on_cell_start = started
    try:
        await client.async_execute()
    except CellExecutionError as error:
        why = f"{error.ename}: {error.evalue}".strip()
    except CellTimeoutError:
        why = f"took more than {SECONDS_A_CELL} s"
    except RuntimeError as error:  # it died, or did not start
        why = str(error) if kernel.ended is None else death(kernel.ended)
    else:
        read = json.loads(cells.pop().outputs[0].text)
        outputs = [cell.outputs for cell in cells if cell.cell_type == "code"]
        return Run(outputs, **read)
    raise RunFailed(f"{name}, {_named(notebook, done)}: {why}")


def _leave_signals(notebook: NotebookNode) -> None:
    """Take from nbclient what it does on a signal: it ends this one notebook's kernel, no more."""
    loop = asyncio.get_running_loop()
    loop.remove_signal_handler(signal.SIGINT)
    loop.remove_signal_handler(signal.SIGTERM)


def _named(notebook: NotebookNode, index: int) -> str:
    """A cell as a reader finds it: its number among the code cells, and its first line."""
    number = sum(cell.cell_type == "code" for cell in notebook.cells[: index + 1])
    first = notebook.cells[index].source.strip().split("\n")[0]
    return f"code cell {number} ({first})"
