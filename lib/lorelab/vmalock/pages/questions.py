"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.vmalock.experiments.contention import simulate
from lorelab.vmalock.params import Contention


def one_vma() -> tuple[pd.DataFrame, str]:
    """Faults of eight threads with a VMA each, and with one [million / s]."""
    locks = ("mmap-lock", "v6.12", "v7.3")
    rates = pd.DataFrame(
        {
            vmas: {
                lock: simulate(Contention(vmas=vmas, variant=lock)).set_index("counter")["value"][
                    "fault_rate"
                ]
                for lock in locks
            }
            for vmas in (8, 1)
        }
    ).rename_axis(columns="VMAs")
    table = (rates / 1e6).round(2)
    gain = rates / rates.loc["mmap-lock"] - 1
    return table, (
        f"With a VMA each, 6.12 handles {gain.loc['v6.12', 8]:.0%} more faults than with "
        f"mmap_lock, and 7.3 {gain.loc['v7.3', 8]:.0%} more. With one VMA it is "
        f"{gain.loc['v6.12', 1]:.0%} and {gain.loc['v7.3', 1]:.0%}: "
        "the faults write to one lock again, now the VMA's."
    )


def cpus() -> tuple[pd.DataFrame, str]:
    """Faults with mmap_lock and with the VMA's, by CPUs [1 / s]."""
    counts = (1, 2, 4, 8, 16, 32, 64)
    handled = pd.DataFrame(
        {
            lock: {
                n: simulate(Contention(cpus=n, threads=n, vmas=n, variant=lock)).set_index(
                    "counter"
                )["value"]["fault_rate"]
                for n in counts
            }
            for lock in ("mmap-lock", "v6.12")
        }
    ).rename_axis("CPUs")
    ratio = handled["v6.12"] / handled["mmap-lock"]
    table = handled.round(0).assign(ratio=ratio.round(3))
    pays = ratio.gt(1).idxmax()
    assert ratio.is_monotonic_increasing
    return table, (
        f"Of these, from {pays} on. On one CPU the second lock costs {1 - ratio[1]:.1%}; on "
        f"{counts[-1]} the process handles {ratio[counts[-1]]:.1f} times as many faults. "
        "That is the model, which reproduces none of the published figures."
    )


def writers() -> tuple[pd.DataFrame, str]:
    """Calls of mprotect() with mmap_lock and with the VMA's lock, by their share [1 / s]."""
    written = pd.DataFrame(
        {
            share: {
                lock: simulate(Contention(writer_share=share, variant=lock)).set_index("counter")[
                    "value"
                ]["write_rate"]
                for lock in ("mmap-lock", "v6.12")
            }
            for share in (0.02, 0.5, 1.0)
        }
    ).rename_axis(columns="share of writers")
    table = written.round(0)
    change = written.loc["v6.12"] / written.loc["mmap-lock"] - 1
    assert change[1.0] < 0 < change[0.5]
    return table, (
        f"Alone they lose {-change[1.0]:.1%}: each also marks its VMA, under a lock. With as many "
        f"faults as writes they gain {change[0.5]:.0%}: most faults no longer hold mmap_lock."
    )
