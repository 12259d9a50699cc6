"""The claims of the thread that count something."""

from lorelab.faultaround.thread import checks
from lorelab.judging.claims import Claim, Weigh

MODEL = "faultaround/faults, the model's functions"
RECORDED = f"{MODEL}, and recorded runs of 6.12.117"
ACK = "Linus Torvalds, 27 February"


def _claim(id: str, statement: str, place: str, check: str, weigh: Weigh) -> Claim:
    return Claim("faultaround", id, statement, place, check, weigh)


CLAIMS = [
    _claim(
        "sequential",
        "A sequential read of 16 GiB takes 262,251 minor faults at order 4, and 4,195,437 without.",
        "rows sequential-*",
        MODEL,
        checks.weigh_sequential,
    ),
    _claim(
        "random",
        "A random read of 1 GiB takes 17,299 minor faults at order 4, and 262,636 without.",
        "rows random-*",
        MODEL,
        checks.weigh_random,
    ),
    _claim(
        "useless",
        "If one page every 2 MiB is touched, fault-around is useless.",
        "rows one-a-table-* worst-distance",
        RECORDED,
        checks.weigh_useless,
    ),
    _claim(
        "after-order-4",
        "The synthetic tests don't improve much after order 4.",
        "rows sequential-*",
        MODEL,
        checks.weigh_after_order_4,
    ),
    _claim(
        "ppc64",
        "Order 4 is 1 MiB of fault-around for ppc64 (Dave Hansen).",
        "row ppc64",
        "arithmetic",
        checks.weigh_ppc64,
    ),
    _claim(
        "small-mappings",
        f"For small mappings the mapping size itself will avoid the fault-around ({ACK}).",
        "fourth message of the table",
        RECORDED,
        checks.weigh_small_mappings,
    ),
    _claim(
        "cache-lines",
        "It would be lovely to stay within one or two cache lines of the page-table entry "
        "(Linus Torvalds, 18 February).",
        "first message of the table",
        RECORDED,
        checks.weigh_cache_lines,
    ),
]
