"""`vmalock/zerocopy`: threads that receive without copying, and one that calls madvise()."""

import pandas as pd

from lorelab.vmalock.params import Zerocopy
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import counters, done

NAME = "vmalock/zerocopy"


def simulate(params: Zerocopy) -> pd.DataFrame:
    """Run the model; counters as `lorelab.vmalock.workload.outcome.counters`."""
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
            values = simulate(params).set_index("counter")["value"]
            rows.append(
                {
                    "madvise_ns": length,
                    "same": same,
                    "refused": round(100 * values["mmap"] / values["faults"], 2),
                    "asleep a call": round(values["sleep_reader"] / values["writes"], 2),
                    "p99": int(values["fault_p99"]),
                    "wait of a call": int(values["vma_wait"]),
                }
            )
    return pd.DataFrame(rows)


def by_receive(lengths: tuple[int, ...] = (1000, 10_000, 100_000, 10**6)) -> pd.DataFrame:
    """What receives of some length cost a madvise() for the VMA that they hold.

    Returns
    -------
    DataFrame
        A row for each length of a receive under the VMA's lock (`receive_ns`): the wait of a call
        for receivers of the VMA, median and 99th percentile of a call [ns], and calls in 50 ms.
    """
    rows = []
    for length in lengths:
        params = Zerocopy(receive_ns=length, same=True, interval_us=200, ms=50)
        values = simulate(params).set_index("counter")["value"]
        rows.append(
            {
                "receive_ns": length,
                "wait for the VMA": int(values["vma_wait"]),
                "p50": int(values["write_p50"]),
                "p99": int(values["write_p99"]),
                "calls": int(values["writes"]),
            }
        )
    return pd.DataFrame(rows)
