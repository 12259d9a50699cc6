"""A mapping of a file is read page by page, with fault_around_bytes as asked."""

import subprocess
from pathlib import Path

from switches import mount

HERE = Path(__file__).parent
BYTES = Path("/sys/kernel/debug/fault_around_bytes")


def run(params):
    """Yield a row for each of `params["runs"]`: what each of its faults did."""
    mount()
    own = BYTES.read_text()
    for number, wanted in enumerate(params["runs"]):
        BYTES.write_text(str(4096 << wanted["order"]))
        done = subprocess.run(
            [HERE / "faults", str(wanted["first"]), wanted["cached"]],
            input="\n".join(map(str, wanted["reads"])),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        faults = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
        yield {"run": number, "faults": faults}
    BYTES.write_text(own)
