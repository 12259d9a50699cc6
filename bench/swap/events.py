"""Event sequences for the benchmark, the same for every implementation.

An event is one int64: `order | cpu << 4` allocates; `~(order | cpu << 4 | n << 14)` frees what the
n-th of these allocations got, nothing where it failed. Nothing in it depends on what the allocator
answers, and to free takes one look-up, of the offset.
"""

import heapq

import numpy as np


def churn(
    pages: int, allocations: int, cpus: int, weights: dict[int, float], full: float, seed: int
) -> np.ndarray:
    """Allocations with random lifetimes.

    Parameters
    ----------
    pages : int
        Size of the device in 4 KiB pages.
    allocations : int
        Allocations in all.
    cpus : int
        CPUs that allocate, each allocation on one at random.
    weights : dict
        Share of the allocations by order.
    full : float
        Share of the device that is asked for at any time once it has filled up; above 1,
        allocations fail.
    seed : int
        Of numpy's generator.

    Returns
    -------
    ndarray of int64
    """
    rng = np.random.default_rng(seed)
    orders = rng.choice(list(weights), allocations, p=list(weights.values()))
    made = (orders | rng.integers(cpus, size=allocations) << 4).tolist()
    # A clock of slots asked for: exponential lifetimes of this mean keep `full` of them in use.
    now = (1 << orders).cumsum()
    ends = (now + rng.exponential(full * pages, allocations)).tolist()
    events: list[int] = []
    due: list[tuple[float, int]] = []
    for n, (event, time, end) in enumerate(zip(made, now.tolist(), ends, strict=True)):
        while due and due[0][0] <= time:
            events.append(~heapq.heappop(due)[1])
        heapq.heappush(due, (end, event | n << 14))
        events.append(event)
    return np.array(events, np.int64)
