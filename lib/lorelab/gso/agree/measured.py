"""Counters of a run step by step; which of them a kernel may not have measured.

Over `dummy` no reader says what is wrong, and a function that the compiler inlined has no calls
that a probe could count.
"""

from collections.abc import Callable

import pandas as pd

from lorelab.gso.params import Traffic
from lorelab.judging.agreement import Agreement, equal
from lorelab.lab.records import Record
from lorelab.params import Params

OF_CALLS = (
    *("segmentations", "holds", "clones", "copies", "copied_bytes"),
    *("completions", "completions_copied"),
    # of a recording, where callers are unknown, or BTF has no arguments
    *("copies_by_skb_segment", "copies_by_others"),
)
"""What kprobes count, and a recording of a reader's."""
READ = ("wrong",)
"""What a reader at the other end of the link says."""
NOWHERE = ("tap_wrong", "copied_by_send")
"""What the model alone counts: nobody reads an unread tap, no probe is in send()'s copy."""


def unmeasured(params: Params) -> tuple[str, ...]:
    """Counters that a run of these parameters may lack."""
    unread = isinstance(params, Traffic) and not (params.held or params.received)
    return OF_CALLS + NOWHERE + (READ if unread else ())


def with_model(simulate: Callable[[Params], pd.DataFrame]) -> Callable[[Params, Record], Agreement]:
    """The `agree` of a question whose model is `simulate`: `equal` of the two."""

    def agree(params: Params, record: Record) -> Agreement:
        """Compare counter by counter."""
        return equal(simulate(params), record.counters, unmeasured(params))

    return agree
