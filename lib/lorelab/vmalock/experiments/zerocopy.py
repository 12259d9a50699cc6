"""`vmalock/zerocopy`: threads that receive without copying, and one that calls madvise()."""

import pandas as pd

from lorelab.vmalock.experiments.outcome import counters, done
from lorelab.vmalock.params import Zerocopy
from lorelab.vmalock.workload import programs

NAME = "vmalock/zerocopy"


def simulate(params: Zerocopy) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.experiments.outcome.counters`."""
    return counters(NAME, params, done(programs.zerocopy(params)))


def by_call(lengths: tuple[int, ...] = (1000, 10_000, 100_000)) -> pd.DataFrame:
    """What a madvise() of some length does to receives in the same VMA and in another one.

    Returns
    -------
    DataFrame
        A row for each length of the call under mmap_lock (`madvise_ns`) and `same` VMA or not:
        receives refused their VMA's lock [%], receivers asleep a call, 99th percentile of a
        receive [ns], and the wait of a call for receivers of the VMA [ns].
    """
    rows = []
    for length in lengths:
        for same in (False, True):
            params = Zerocopy(madvise_ns=length, same=same, interval_us=200, ms=50)
            found = simulate(params).set_index("counter")["value"]
            rows.append(
                {
                    "madvise_ns": length,
                    "same": same,
                    "refused": round(100 * found["mmap"] / found["faults"], 2),
                    "asleep a call": round(found["sleep_reader"] / found["writes"], 2),
                    "p99": int(found["fault_p99"]),
                    "wait of a call": int(found["vma_wait"]),
                }
            )
    return pd.DataFrame(rows)
