"""Turns switches of the laboratory's kernels, which are files under lorelab/ in debugfs."""

import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path("/sys/kernel/debug/lorelab")


@contextmanager
def turned(choices):
    """Switches by name (`swap/steal`) at their choices, and back at the kernel's own at the end.

    Where a run fails they stay, for it ends the guest.

    Raises
    ------
    NotImplementedError
        This kernel has not one of them; then none is turned.
    """
    if choices:
        mount()
    for name in choices:
        if not (FOLDER / name).exists():
            design = name.partition("/")[0]
            raise NotImplementedError(f"the switch {name}; it takes lib/kernel/{design}/patches")
    for name, choice in choices.items():
        (FOLDER / name).write_text(choice)
    yield
    for name in choices:
        # The kernel's own behaviour is the first choice; the current one is in brackets.
        first = re.sub(r"[][]", "", (FOLDER / name).read_text()).split()[0]
        (FOLDER / name).write_text(first)


def mount():
    """Mount debugfs, if it is not."""
    if not FOLDER.parent.is_mount():
        subprocess.run(["mount", "-t", "debugfs", "debugfs", FOLDER.parent], check=True)
