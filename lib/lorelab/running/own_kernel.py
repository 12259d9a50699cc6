"""The Jupyter kernel of `lorelab run` and of the book: this Python, as it comes."""

import sys
from functools import cache
from tempfile import TemporaryDirectory

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager


class OwnKernel(AsyncKernelManager):
    """The one kernel there is: no kernel, profile or start-up file of the user's has a say."""

    module = "ipykernel_launcher"

    @property
    def kernel_spec(self) -> KernelSpec:
        # It would tell that it is reached over TCP, on this machine alone, and that it was
        # interrupted: that is how it is ended, and it may just have answered its last cell.
        command = [sys.executable, "-m", self.module, "--log-level=CRITICAL"]
        options = ["--HistoryManager.enabled=False", "-f", "{connection_file}"]
        return KernelSpec(argv=[*command, *options], env=clean(), language="python")


def clean() -> dict[str, str]:
    """Variables that leave the user's IPython out: an empty profile, and no start-up file."""
    return {"IPYTHONDIR": _empty().name, "PYTHONSTARTUP": ""}


@cache
def _empty() -> TemporaryDirectory:
    """A folder of this process, which is removed as it ends."""
    return TemporaryDirectory(prefix="lorelab-ipython-")
