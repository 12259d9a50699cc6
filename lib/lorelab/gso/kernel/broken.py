"""`gso/broken` on a kernel: UDP between two cards, and what the kernel complains of."""

from lorelab.gso.experiments.broken import table
from lorelab.gso.kernel.traffic import HUB, LINKS, MODES, SECONDS_A_RUN, check
from lorelab.gso.params import Broken, Traffic
from lorelab.lab import build
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot


def measure(wanted: list[Broken], lab: Lab) -> list[Record]:
    """Send on a kernel, a boot for each run: one that released what was gone can't be trusted.

    Returns
    -------
    list of Record
        `complains`: 1 if the kernel complained of anything, otherwise 0; `sent`, segments that
        left; and each complaint, a counter `kernel: WORDS` with how often it came.

    Raises
    ------
    BadInput
        The kernel has no such variant, or the one of `config` is not built.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        check(Traffic(variant=params.variant))
    return [_measure(params, lab) for params in wanted]


def _measure(params: Broken, lab: Lab) -> Record:
    if params.config != "lab" and lab.image is None:
        lab = lab._replace(image=build.built(build.recipe("gso", params.config)).image)
    job = Job("gso", "stream", {"runs": [program(params)]}, 2 * SECONDS_A_RUN, rows=1)
    measured = boot(Machine(qemu=HUB, modules=LINKS), job, lab, patched=True)
    [row] = measured.rows
    found = {
        "complains": ("kernels", [int(bool(row["complaints"]))]),
        "sent": ("segments", [row["sent"]]),
    }
    found |= {f"kernel: {words}": ("times", [n]) for words, n in row["complaints"].items()}
    return measured.record("gso/broken", params, table(params, found, "kernel"))


def program(params: Broken) -> dict[str, object]:
    """One run for the guest's `stream.py`."""
    mode = MODES[params.variant]
    return {
        "switches": {} if mode == "upstream" else {"gso/gso_mode": mode},
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
