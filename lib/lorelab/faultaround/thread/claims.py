"""The claims of the thread that count something."""

from functools import partial

from lorelab.faultaround.thread import checks
from lorelab.judging.claims import Claim

MODEL = "faultaround/faults, the model's functions"
RECORDED = f"{MODEL}, and recorded runs of 6.12.117"

CLAIMS = [
    Claim("faultaround", id, statement, place, check, weigh)
    for id, statement, place, check, weigh in [
        (
            "sequential",
            "A sequential read of 16 GiB takes 262,251 minor faults at order 4, 4,195,437 without.",
            "rows sequential-*",
            MODEL,
            partial(checks.weigh_table, "sequential", pages=16 * checks.GIB),
        ),
        (
            "random",
            "A random read of 1 GiB takes 17,299 minor faults at order 4, and 262,636 without.",
            "rows random-*",
            MODEL,
            partial(checks.weigh_table, "random", pages=checks.GIB, access="random"),
        ),
        (
            "useless",
            "If one page every 2 MiB is touched, fault-around is useless.",
            "rows one-a-table-* worst-distance",
            RECORDED,
            checks.weigh_useless,
        ),
        (
            "after-order-4",
            "The synthetic tests don't improve much after order 4.",
            "rows sequential-*",
            MODEL,
            checks.weigh_after_order_4,
        ),
        (
            "cache-lines",
            "It would be lovely to stay within one or two cache lines of the page-table entry "
            "(Linus Torvalds, 18 February).",
            "first message of the table",
            RECORDED,
            checks.weigh_cache_lines,
        ),
    ]
]
