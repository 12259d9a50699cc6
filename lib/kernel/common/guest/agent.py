"""Runs one job in the guest and says what came of it, in framed lines on its own virtio port.

A line is `@lorelab NUMBER CRC32 JSON`; numbers count from 0, and the last frame's kind is `end`,
so that a lost, torn or missing line shows. `lorelab.lab.protocol` reads them.
"""

import json
import os
import traceback
import zlib
from importlib import import_module
from itertools import count
from pathlib import Path

HERE = Path(__file__).parent


def sender(stream):
    """Return a function that writes one frame to `stream`."""
    numbers = count()

    def send(kind, **content):
        number = next(numbers)
        text = json.dumps({"kind": kind, **content}, separators=(",", ":"))
        check = zlib.crc32(f"{number} {text}".encode())
        # A line of its own, whatever a program left unfinished before it.
        stream.write(f"\n@lorelab {number} {check:08x} {text}\n".encode())
        stream.flush()

    return send


def port():
    """Open the virtio port that QEMU connects to the host's lorelab."""
    for name in Path("/sys/class/virtio-ports").glob("*/name"):
        if name.read_text().strip() == "lorelab":
            return open(f"/dev/{name.parent.name}", "wb")
    raise OSError("no virtio port called lorelab; does this kernel have CONFIG_VIRTIO_CONSOLE?")


def main():
    send = sender(port())
    job = json.loads((HERE / "job.json").read_text())
    send("hello", release=os.uname().release, command_line=Path("/proc/cmdline").read_text())
    try:
        probes = import_module("probe").attach(job["probes"]) if job["probes"] else []
        for row in import_module(job["workload"]).run(job["params"]):
            send("row", **row)
        for found in import_module("probe").read(probes) if probes else ():
            send("probe", **found)
    except NotImplementedError as lack:
        # A workload's word for a kernel that has not what it takes.
        send("lacks", message=str(lack))
    except Exception as error:
        traceback.print_exc()
        send("error", message=f"{type(error).__name__}: {error}")
    send("end")


if __name__ == "__main__":
    main()
