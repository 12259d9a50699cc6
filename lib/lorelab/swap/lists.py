"""The cluster lists of a swap area as a table, for a reader to look at."""

import pandas as pd

from lorelab.swap.clusters import FRAG, FREE, FULL, NONFULL, Swap, head_of, list_first


def lists(si: Swap) -> pd.DataFrame:
    """Walk every list that isn't empty.

    Returns
    -------
    DataFrame
        `list` (kernel name), `clusters` (numbers, head first) and `slots` (taken in each).
    """
    heads = {"free": FREE, "full": FULL}
    heads |= {f"nonfull[{order}]": int(NONFULL) + order for order in range(10)}
    heads |= {f"frag[{order}]": int(FRAG) + order for order in range(10)}
    rows = []
    for name, which in heads.items():
        found = members(si, which)
        if found:
            counts = [int(si.cluster_info[idx]["count"]) for idx in found]
            rows.append((name, " ".join(map(str, found)), " ".join(map(str, counts))))
    return pd.DataFrame(rows, columns=["list", "clusters", "slots"])


def members(si: Swap, which: int) -> list[int]:
    """Clusters on one list (FREE, FULL, NONFULL + order, FRAG + order), head first."""
    head = int(head_of(si, which))
    found, idx = [], int(list_first(si, head))
    while idx != head:
        found.append(idx)
        idx = int(si.cluster_info[idx]["next"])
    return found
