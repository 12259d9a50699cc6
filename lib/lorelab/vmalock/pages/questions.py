"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.vmalock.experiments.contention import simulate
from lorelab.vmalock.pages.published import PFT
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
    gain = (100 * (rates / rates.loc["mmap-lock"] - 1)).round().astype(int)
    return table, (
        f"With a VMA each, the threads fault {gain.loc['v6.12', 8]} % more often with 6.12's lock "
        f"than with mmap_lock, and {gain.loc['v7.3', 8]} % more often with 7.3's. With one VMA it "
        f"is {gain.loc['v6.12', 1]} and {gain.loc['v7.3', 1]} %: the faults write to one lock "
        "again, now the VMA's."
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
    measured = PFT["v2, a VMA per thread, Punit Agrawal"]
    return table, (
        f"From {pays} CPUs on, of those in the table. On one CPU the second lock costs "
        f"{100 * (1 - ratio[1]):.1f} %; on {counts[-1]} the process handles "
        f"{ratio[counts[-1]]:.1f} times as many faults. "
        "That is the model, whose rates predict no kernel's. Punit Agrawal measured v2 with a VMA "
        f"per thread: {-measured[1]:.0f} % slower with one thread, {measured[4]:.0f} % faster "
        f"with 4, and {measured[128]:.0f} % faster with 128 "
        "(https://lore.kernel.org/r/87fsaqouyd.fsf_-_@stealth)."
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
    change = 100 * (written.loc["v6.12"] / written.loc["mmap-lock"] - 1)
    assert change[1.0] < 0 < change[0.5]
    return table, (
        f"Alone they lose {-change[1.0]:.1f} %: each also write-locks its VMA. With as many faults "
        f"as writes they gain {change[0.5]:.0f} %: most faults no longer hold mmap_lock."
    )
