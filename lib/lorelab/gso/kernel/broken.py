"""`gso/broken` on a kernel: UDP between two cards, and what the kernel complains of."""

import pandas as pd

from lorelab.gso.kernel import boot
from lorelab.gso.params import Broken
from lorelab.gso.workload.broken import table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request


def _request(batch: list[Broken]) -> Request:
    [params] = batch
    job = Job(boot.DESIGN, "stream", {"runs": [program(params)]}, 2 * boot.SECONDS_A_RUN, rows=1)
    config = None if params.config == "lab" else params.config
    return Request(boot.WIRED, job, patched=True, config=config)


def _counters(params: Broken, measured: Measured, run: int) -> pd.DataFrame:
    """`complains`: 1 if the kernel complained of anything, otherwise 0; `sent`, segments that left.

    And each complaint, a counter `kernel: WORDS` with how often it came.
    """
    [row] = measured.rows
    columns = {
        "complains": ("kernels", [int(bool(row["complaints"]))]),
        "sent": ("segments", [row["sent"]]),
    }
    columns |= {f"kernel: {words}": ("times", [n]) for words, n in row["complaints"].items()}
    return table(params, columns, "kernel")


def program(params: Broken) -> dict[str, object]:
    """One run for the guest's `stream.py`."""
    return {
        "switches": boot.switches(params.variant),
        "link": "wire",
        "protocol": "udp",
        "sends": params.sends,
        "length": 56_000,
        "segment": 1400,
        "buffers": params.sends,
        "zerocopy": True,
        "qdisc": [],
        "tap": params.tap,
        "sleep_ms": 0,
    }


# A boot for each run: a kernel that released what was gone can't be trusted.
measure = Measurement(
    "gso/broken", _request, _counters, check=lambda params, _: boot.check_variant(params.variant)
)
