"""`gso/breakeven` on a kernel: instructions of a send, with icount."""

from lorelab import counters
from lorelab.errors import BadInput
from lorelab.gso.kernel.traffic import LINKS, MODES
from lorelab.gso.params import Breakeven
from lorelab.lab import build
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as boot
from lorelab.params import label

SENDS, REPEATS = 20, 6
"""Six, so that their range has the median with 97 % confidence (`lorelab.rows.intervals`)."""


def measure(wanted: list[Breakeven], lab: Lab | None = None) -> list[Record]:
    """Count instructions of sends over `dummy0`, one CPU; runs on the same kernel share a boot.

    Returns
    -------
    list of Record
        `instructions` of so many `sends` and of being told of each, a step for each repeat: the
        system calls, segmentation, the driver, freeing.

    Raises
    ------
    BadInput
        The kernel has no such variant, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    for params in wanted:
        if params.variant not in MODES:
            known = ", ".join(label(variant) for variant in MODES)
            raise BadInput(f"variant={label(params.variant)}: the kernel has one of {known}")
    return by_boot(wanted, lambda p: p.pointer, lambda runs: _measure(runs, lab or Lab()))


def _measure(wanted: list[Breakeven], lab: Lab) -> list[Record]:
    pointer = wanted[0].pointer
    if pointer != "none" and lab.image is None:
        lab = lab._replace(image=build.built(build.recipe("gso", pointer)).image)
    runs = [program(params) for params in wanted]
    rows = REPEATS * len(runs)
    job = Job("gso", "instructions", {"runs": runs, "repeats": REPEATS}, 30.0 * rows, rows=rows)
    measured = boot(Machine(icount=True, modules=LINKS), job, lab, patched=True)
    records = []
    for number, params in enumerate(wanted):
        each = [row["ns"] for row in measured.rows if row["run"] == number]
        found = {
            "sends": ("sends", [SENDS] * REPEATS),
            "instructions": ("instructions", each),
        }
        table = counters.table("gso/breakeven", label(params.variant), "kernel", found)
        records.append(measured.record("gso/breakeven", params, table, number + 1))
    return records


def program(params: Breakeven) -> dict[str, object]:
    """One run for the guest's `instructions.py`."""
    mode = MODES[params.variant]
    return {
        "switches": {} if mode == "upstream" else {"gso/gso_mode": mode},
        "sends": SENDS,
        "length": params.length,
        "segment": params.segment,
        "zerocopy": params.zerocopy,
    }
