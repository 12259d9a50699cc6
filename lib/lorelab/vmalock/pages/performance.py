"""Tables of the performance model, as the chapter's page of it shows them."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd

from lorelab.params import label
from lorelab.vmalock.experiments import contention, fork, launch, merge, zerocopy
from lorelab.vmalock.model.operation import PCS
from lorelab.vmalock.model.state import Machine
from lorelab.vmalock.params import Contention, Fork, Launch, Merge, Variant, Zerocopy
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import done, totals

BOTH = (Variant.MMAP_LOCK, Variant.V6_12)
LOCKS = (Variant.MMAP_LOCK, Variant.VMA_RWSEM, Variant.V2, Variant.V6_12, Variant.V7_3)
VARIANTS = (Variant.MMAP_LOCK, Variant.SPF, Variant.VMA_RWSEM, Variant.V6_12, Variant.RANGE)
"""Those that a chart of throughput tells apart: 7.3 lies on 6.12, and v2 close above it."""
UNTIL = {
    "start": "own work",
    "woken": "waits for mmap_lock",
    "w_wait": "waits for mmap_lock",
    "w_mark_wait": "waits for readers",
    "w_mark": "changes VMAs",
    "w_end": "changes VMAs",
    "w_tail": "changes VMAs",
}
"""What a thread did until it came to a place of its path; a fault, where none is named."""


def fault_rates(cpus: int = 64, writer_share: float = 0.01, ms: int = 10) -> pd.Series:
    """Faults a second of the three versions of the lock with sequences, by variant."""
    shared = {"cpus": cpus, "threads": cpus, "vmas": cpus, "writer_share": writer_share, "ms": ms}
    rates = {
        label(variant): _values(contention.simulate(Contention(variant=variant, **shared)))
        for variant in (Variant.V2, Variant.V6_12, Variant.V7_3)
    }
    return pd.Series({name: values["fault_rate"] for name, values in rates.items()})


def timeline(params: Contention, until_ns: int) -> pd.DataFrame:
    """What each thread does when.

    Parameters
    ----------
    params : Contention
    until_ns : int
        End of what is told [ns].

    Returns
    -------
    DataFrame
        A row a stretch of time: `variant`, `thread`, `doing`, `since` and `till` [us].
    """
    machine = done(programs.contention(params, traced=1 << 16))
    trace = machine.trace[: int(machine.globals["events"][0])]
    rows = []
    for thread in range(params.threads):
        mine = trace[trace[:, 1] == thread]
        for (since, _, _), (till, _, pc) in pairwise(mine):
            if since < until_ns and till > since:
                doing = UNTIL.get(PCS[int(pc)], "handles a fault")
                rows.append((thread, doing, since / 1e3, min(till, until_ns) / 1e3))
    table = pd.DataFrame(rows, columns=["thread", "doing", "since", "till"])
    return table.assign(variant=label(params.variant))


def unfolding(params: Contention, until_us: int = 60, step_us: int = 3) -> pd.DataFrame:
    """`timeline` of mmap_lock and of 6.12's lock, as far as it has come at each `at` [us]."""
    both = pd.concat(
        timeline(params.model_copy(update={"variant": variant}), until_us * 1000)
        for variant in BOTH
    )
    ends = range(step_us, until_us + 1, step_us)
    parts = [
        both[both["since"] < at].assign(at=at, till=lambda t, at=at: np.minimum(t["till"], at))
        for at in ends
    ]
    return pd.concat(parts, ignore_index=True)


def balance(machine: Machine) -> pd.DataFrame:
    """The invariants of a run that has ended, by name, each as two numbers that must be equal."""
    sums, g = totals(machine), machine.globals[0]
    refused = sum(sums[name] for name in ("abort_early", "abort_trylock", "abort_late", "retry"))
    rows = {
        "operations: started, ended": (sums["started"], sums["faults"] + sums["writes"]),
        "faults: ended, by way": (sums["faults"], sums["vma"] + sums["mmap"]),
        "faults: refused, under mmap_lock": (refused, sums["mmap"]),
        "readers asleep: Little's law": (int(g["reader_area"]), sums["reader_wait"]),
        "writers waiting: Little's law": (int(g["writer_area"]), sums["writer_wait"]),
    }
    return pd.DataFrame(rows, index=["counted here", "and there"]).T


def _values(table: pd.DataFrame) -> pd.Series:
    return table.set_index("counter")["value"]


def launched(cpus: int = 8) -> pd.DataFrame:
    """A launch by variant: its time [ms], who slept, faults that went to mmap_lock and why."""
    columns = ["time", "sleep_reader", "sleep_writer", "mmap", "retry"]
    shown = {
        label(variant): _values(launch.simulate(Launch(cpus=cpus, variant=variant)))[columns]
        for variant in LOCKS
    }
    return pd.DataFrame(shown).T.rename_axis("variant")


def shorter(think_us: Sequence[int] = (2, 4, 8, 16, 32, 64)) -> pd.DataFrame:
    """How much less time a launch takes under v2 than under mmap_lock [%], by the work between.

    Parameters
    ----------
    think_us : sequence of int
        Mean time between two operations of a thread [us].
    """
    rows = {}
    for us in think_us:
        before, after = (
            _values(launch.simulate(Launch(think_ns=1000 * us, variant=variant)))["time"]
            for variant in (Variant.MMAP_LOCK, Variant.V2)
        )
        rows[us] = 100 * (1 - after / before)
    return pd.DataFrame({"less time, %": rows}).rename_axis("us between operations").T


def receiving() -> pd.DataFrame:
    """Receives a second over threads, with mmap_lock and with 6.12, the same VMA and another."""
    rows = []
    for threads, same, variant in product((2, 4, 8, 16, 32), (False, True), BOTH):
        params = Zerocopy(threads=threads, cpus=threads, same=same, variant=variant)
        rate = _values(zerocopy.simulate(params))["fault_rate"]
        rows.append((threads, "same VMA" if same else "another VMA", label(variant), rate))
    return pd.DataFrame(rows, columns=["threads", "madvise", "variant", "rate"])


def forked() -> pd.DataFrame:
    """How much longer a fork takes than under mmap_lock alone [%], by variant and VMAs."""
    rows = []
    for vmas in (10, 100, 1000, 10_000):
        base, *others = (
            _values(fork.simulate(Fork(vmas=vmas, variant=variant)))["time"] for variant in LOCKS
        )
        rows += [
            (vmas, label(variant), 100 * (other / base - 1))
            for variant, other in zip(LOCKS[1:], others, strict=True)
        ]
    return pd.DataFrame(rows, columns=["vmas", "variant", "longer"])


def merged() -> pd.DataFrame:
    """Faults a second over threads that have a VMA each, or one for all, by variant."""
    rows = []
    for threads, one, variant in product((2, 4, 8, 16, 32), (False, True), BOTH):
        params = Merge(threads=threads, cpus=threads, merged=one, variant=variant)
        rate = _values(merge.simulate(params))["fault_rate"]
        rows.append((threads, "one VMA" if one else "a VMA each", label(variant), rate))
    return pd.DataFrame(rows, columns=["threads", "vmas", "variant", "rate"])


@cache
def over_cpus(writer_share: float = 0.01, ms: int = 10) -> pd.DataFrame:
    """Counters of `vmalock/contention` with as many threads and VMAs as CPUs, by CPUs and variant.

    Returns
    -------
    DataFrame
        Counters with the column `cpus`.
    """
    return pd.concat(
        contention.simulate(
            Contention(
                cpus=cpus,
                threads=cpus,
                vmas=cpus,
                variant=variant,
                writer_share=writer_share,
                ms=ms,
            )
        ).assign(cpus=cpus)
        for cpus, variant in product((1, 2, 4, 8, 16, 32, 64, 128), VARIANTS)
    )
