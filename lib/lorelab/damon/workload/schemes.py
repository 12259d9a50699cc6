"""`damon/schemes`: the thread's schemes in their own notation, and what they do to a program.

A scheme is a line: minimum and maximum of size, of frequency in percent, of age, and an action.

    # ethp: huge pages for regions of 2 MB and more with at least 5 % of the samples
    2M null    5 null    null null    hugepage

Linux 6.12 takes counts of samples and of windows, so 5 % of 20 samples is a count of 1, and 1 s
is an age of 10 windows. Both are rounded down.
"""

import numpy as np

from lorelab.damon.model.damos import Action
from lorelab.damon.model.state import SCHEME
from lorelab.damon.params import WithSchemes
from lorelab.errors import BadInput

BUILTIN = {
    "ethp": "2M null    5 null    null null    hugepage\n"
    "2M null    null 5    1s null    nohugepage",
    "prcl": "4K null    null 5    5s null    pageout",
}
"""Of the message <20200309102345.13427-1-sjpark@amazon.com>."""

SIZES = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

TIMES = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}

ULONG_MAX, UINT_MAX = 2**64 - 1, 2**32 - 1

ACTIONS = {action.name.lower(): action for action in Action}

STATISTICS = {
    "nr_tried": "regions",
    "sz_tried": "bytes",
    "nr_applied": "regions",
    "sz_applied": "bytes",
    "qt_exceeds": "windows",
}
"""struct damos_stat, and what each of its fields counts."""


def _quantity(text: str, units: dict[str, int], where: str, what: str) -> int:
    number = text.rstrip("".join(set("".join(units))))
    unit = text[len(number) :]
    if not (number.isascii() and number.isdigit() and len(number) < 16 and unit in units):
        raise BadInput(f"{where}: {text!r}: takes {what}, or null")
    return int(number) * units[unit]


def _bounds(pair: list[str], units: dict[str, int], most: int, where: str, what: str):
    low = 0 if pair[0] == "null" else _quantity(pair[0], units, where, what)
    high = most if pair[1] == "null" else _quantity(pair[1], units, where, what)
    if low > high:
        raise BadInput(f"{where}: {' '.join(pair)}: takes the lower bound first")
    return low, high


def parse(text: str, params: WithSchemes) -> np.ndarray:
    """Read schemes in the notation of the thread.

    Parameters
    ----------
    text : str
        A scheme a line, or several separated by semicolons; # begins a comment.
    params : WithSchemes
        For the intervals that turn percent and seconds into counts, and for the quota.

    Returns
    -------
    (n,) SCHEME array

    Raises
    ------
    BadInput
        Names the line, what it has and what it takes.
    """
    rows = []
    for number, line in enumerate(text.replace(";", "\n").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"scheme {number}"
        if len(words) != 7:
            raise BadInput(
                f"{where}: {line.strip()!r}: takes minimum and maximum of size, frequency and "
                "age, and an action"
            )
        if words[6] not in ACTIONS:
            raise BadInput(f"{where}: unknown action {words[6]}: takes {', '.join(ACTIONS)}")
        row = np.zeros(1, SCHEME)
        size = _bounds(words[0:2], SIZES, ULONG_MAX, where, "a size like 4K or 2M")
        rate = _bounds(words[2:4], {"": 1, "%": 1}, 100, where, "a percentage")
        age = _bounds(words[4:6], TIMES, ULONG_MAX, where, "a time like 1s or 500ms")
        row["min_sz_region"], row["max_sz_region"] = size
        row["min_nr_accesses"], row["max_nr_accesses"] = (rate[0] * params.samples // 100, UINT_MAX)
        if words[3] != "null":
            row["max_nr_accesses"] = rate[1] * params.samples // 100
        row["min_age_region"] = min(age[0] // params.aggr_us, UINT_MAX)
        row["max_age_region"] = min(age[1] // params.aggr_us, UINT_MAX)
        row["action"], row["activated"] = ACTIONS[words[6]], 1
        row["sz"], row["reset_interval"] = params.quota_mib << 20, params.quota_ms
        row["weight_nr_accesses"] = row["weight_age"] = 1
        rows.append(row)
    if not rows:
        raise BadInput(f"schemes={text!r}: takes {', '.join(BUILTIN)}, or a scheme a line")
    return np.concatenate(rows)
