"""The Jupyter kernel of `lorelab run` and of the book: this Python, as it comes."""

import asyncio
import signal
import sys
from contextlib import suppress
from functools import cache
from tempfile import TemporaryDirectory
from typing import ClassVar

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

STARTS_WITHIN_S = 300
"""A kernel, on the busiest machine."""
OUTPUTS_WITHIN_S = 120
"""What a cell printed, after it ended; nbclient waits 4 s, then fails or drops the rest."""
ENDS_WITHIN_S = 1
"""A kernel that was asked to, if no cell runs."""


class OwnKernel(AsyncKernelManager):
    """The one kernel there is: no kernel, profile or start-up file of the user's has a say."""

    module = "ipykernel_launcher"
    ended: ClassVar[int | None] = None
    """Exit status of the last one of this class that died, or its signal's number, negative."""

    @property
    def kernel_spec(self) -> KernelSpec:
        # It would tell that it is reached over TCP, on this machine alone.
        command = [sys.executable, "-m", self.module, "--log-level=CRITICAL"]
        options = ["--HistoryManager.enabled=False", "-f", "{connection_file}"]
        return KernelSpec(argv=[*command, *options], env=clean(), language="python")

    async def _async_is_alive(self) -> bool:
        alive = await super()._async_is_alive()
        if not alive and self.has_kernel:
            type(self).ended = await self.provisioner.poll()
        return alive

    is_alive = _async_is_alive

    async def _async_interrupt_kernel(self) -> None:
        # A kernel that ends is interrupted first, though it may just have answered what language
        # it is of, and then it is told of on stderr. So it is asked, and interrupted if it stays.
        if self.shutting_down:
            await self._async_request_shutdown()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._async_wait(), ENDS_WITHIN_S)
                return
        await super()._async_interrupt_kernel()

    interrupt_kernel = _async_interrupt_kernel


def death(status: int | None) -> str:
    """What is known of a kernel that died.

    Parameters
    ----------
    status : int or None
        `OwnKernel.ended`.

    Examples
    --------
    >>> death(3), death(-11)
    ('its kernel ended with exit status 3', 'its kernel was killed by SIGSEGV')
    >>> death(-9)
    'its kernel was killed by SIGKILL, as it is where memory ends'
    """
    if status is None:
        return "its kernel died"
    if status >= 0:
        return f"its kernel ended with exit status {status}"
    name = next((one.name for one in signal.Signals if one == -status), f"signal {-status}")
    where = ", as it is where memory ends" if -status == signal.SIGKILL else ""
    return f"its kernel was killed by {name}{where}"


def clean() -> dict[str, str]:
    """Variables that leave the user's IPython out: an empty profile, and no start-up file."""
    return {"IPYTHONDIR": _empty().name, "PYTHONSTARTUP": ""}


@cache
def _empty() -> TemporaryDirectory:
    """A folder of this process, which is removed as it ends."""
    return TemporaryDirectory(prefix="lorelab-ipython-")
