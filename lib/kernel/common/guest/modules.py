"""Loads /lab/modules in the order of their names, with the kernel command line's parameters."""

import ctypes
import os
from pathlib import Path

FINIT_MODULE = 313
"""Of arch/x86/entry/syscalls/syscall_64.tbl."""
MODULES = Path("/lab/modules")


def parameters(name, words):
    """What `module.parameter=value` says of one module, as modprobe would hand it over."""
    mine = [word.partition(".") for word in words]
    return " ".join(rest for module, _, rest in mine if rest and module.replace("-", "_") == name)


def load(file, words):
    name = file.stem.partition("-")[2].replace("-", "_")
    libc = ctypes.CDLL(None, use_errno=True)
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    given = parameters(name, words).encode()
    if libc.syscall(FINIT_MODULE, opened, ctypes.c_char_p(given), 0):
        print(f"module {name}: {os.strerror(ctypes.get_errno())}", flush=True)
    os.close(opened)


if __name__ == "__main__":
    said = Path("/proc/cmdline").read_text().split()
    for module in sorted(MODULES.iterdir()):
        load(module, said)
