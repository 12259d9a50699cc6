"""What the searches of `gso/lifetimes` say: which invariants break, and how, step by step."""

import numpy as np
import pandas as pd

from lorelab.gso.experiments.lifetimes import MODEL, first, setting, shortest, simulate
from lorelab.gso.model import lifetimes as model
from lorelab.gso.model import states
from lorelab.gso.model.invariants import INVARIANTS
from lorelab.gso.params import TRAITS, Lifetimes, Variant
from lorelab.numerics import U
from lorelab.params import label

DONE = {
    "segment": "skb_segment(), then the head is released",
    "drop": "dropped by the qdisc: kfree_skb()",
    "dequeue": "leaves the qdisc for the driver's ring",
    "sent": "sent, consume_skb()",
    "sent_direct": "sent, __kfree_skb() from net_tx_action()",
    "deliver": "comes back on a receive path, into a local queue",
    "read": "read, consume_skb()",
    "read_direct": "read, __kfree_skb()",
    "tap": "skb_clone() for a tap",
    "flood": "skb_clone() for another port",
    "unclone": "pskb_expand_head(): data of its own",
    "rewrite": "writes new data into the pages",
    "store": "msg_zerocopy_complete(): stores zerocopy",
    "put": "msg_zerocopy_complete(): refcount_dec_and_test()",
    "fail": "skb_segment(): no memory for this one",
    "again": "skb_segment() into two, then it is released",
    "retransmit": "sent once more by TCP, from the head's data",
    "ack": "all has arrived: TCP's sk_buff is freed",
    "join": "sends again into the ubuf_info, copied: stores zerocopy = 0",
    "tail": "the later sk_buff of the ubuf_info is freed, as sent",
}


def counterexample(params: Lifetimes, number: int) -> pd.DataFrame:
    """The shortest way that breaks an invariant, to be read.

    Returns
    -------
    DataFrame
        One row a step: `who`, `step` in words, and then the state that it leads to: `holders`
        (references of the ubuf_info), `head` (users of the head), `told`, `rewritten`, and where
        the segments and the clone are.
    """
    rows = []
    for number_of, state in shortest(params, number):
        kind, who = model.STEPS[number_of // 8], number_of % 8
        rows.append({"who": _who(kind, who), "step": DONE[kind], **_read(params, state)})
    return pd.DataFrame(rows)


def _who(kind: str, who: int) -> str:
    if kind in ("store", "put"):
        return f"CPU {who}"
    return {4: "clone", 5: "head", 6: "sender", 7: "second part"}.get(who, f"segment {who + 1}")


def _read(params: Lifetimes, state: np.ndarray) -> dict[str, object]:
    counts, segments, clone = (int(word) for word in state)
    places = [states.PLACES[segments >> 8 * i & 7] for i in range(8)]
    where = {f"segment {i + 1}": places[i] for i in range(params.segments)}
    where["clone"] = states.PLACES[clone & 7]
    if params.nested:
        where["second part"] = places[7]
    return {
        "holders": counts & 15,
        "head": counts >> 10 & 15,
        "told": bool(counts >> 4 & 3),
        "rewritten": bool(counts >> 8 & 1),
        **where,
    }


IN_WORDS = {
    "copies": "copies the pages before it segments",
    "at_send": "copies them at the send",
    "counts": "segments hold the ubuf_info",
    "transfers": "the last segment completes for the head",
    "parent": "segments hold the head",
    "clone_gets": "a clone holds the head, too",
    "by_data": "released with the shared info",
    "flagged": "segments carry the flag",
    "members": "sees frag_list members",
}
"""What the traits of a variant are called."""


def traits() -> pd.DataFrame:
    """What each variant does: `yes` or nothing, a row a trait; the last row is bytes per packet."""
    table = pd.DataFrame({label(variant): one._asdict() for variant, one in TRAITS.items()})
    more = table.loc["shared_info_bytes"] + table.loc["sk_buff_bytes"]
    table = table.loc[list(IN_WORDS)].rename(index=IN_WORDS)
    table.loc["bytes more per packet"] = more
    return table.map(lambda has: {False: "", True: "yes"}.get(has, has))


def verdicts(variants: list[Variant] | None = None, **scope: object) -> pd.DataFrame:
    """Steps to break each invariant, by variant; 0 where it holds.

    Parameters
    ----------
    variants : list of Variant, optional
        All of them by default.
    **scope
        Parameters of `Lifetimes`.

    Returns
    -------
    DataFrame
        Index `variant`; columns `states`, `I1` to `I9`.
    """
    rows = {}
    for variant in variants or list(Variant):
        values = simulate(Lifetimes(variant=variant, **scope)).set_index("counter")["value"]
        rows[label(variant)] = {"states": int(values["states"])} | {
            f"I{number}": int(values[f"broken_i{number}"]) for number in INVARIANTS
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("variant")


PLACES_OF_TODAY = {
    "as above": {},
    "once": {"once": True},
    "a queue without the rule": {"rx_orphan": False},
    "no scatter-gather": {"gather": False},
    "pages that the CPU can't read": {"readable": False},
    "segmentation runs out of memory": {"fails": True},
    "a segment is segmented again": {"nested": True},
    "TCP keeps the data": {"retransmit": True},
    "a segment with pages of two sends": {"straddles": True},
    "a second send in the ubuf_info": {"joined": True},
}
"""Where the merged design is searched: scope of `Lifetimes`."""


def places(segments: int) -> pd.DataFrame:
    """Steps to break each invariant with the shared count, by place and CPUs; 0 where it holds."""
    rows = {}
    for place, scope in PLACES_OF_TODAY.items():
        for cpus in (1, 2):
            params = Lifetimes(segments=segments, cpus=cpus, **scope)
            rows[place, cpus] = {
                f"I{number}": len(shortest(params, number)) for number in INVARIANTS
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["place", "CPUs"])


SCHEDULE = ("segment 5", "dequeue 2", "sent 2", "dequeue 0", "sent 0", "dequeue 1", "sent 1")
"""A packet of three segments whose last one overtakes the others."""


def watch(variants: list[Variant], schedule: tuple[str, ...] = SCHEDULE) -> pd.DataFrame:
    """The same schedule by each variant, the sender writing again as soon as it is told.

    Parameters
    ----------
    variants : list of Variant
    schedule : tuple of str
        Steps by name and number of the segment; 5 is the head.

    Returns
    -------
    DataFrame
        One row a `step` (from 0), `variant` and `thing` (the sender, the counts of the ubuf_info
        and of the head, the segments): its `state`, and the `words` for it, of counts the number.
    """
    rows = []
    for variant in variants:
        params = Lifetimes(variant=variant, clone=False, local=False, direct=False)
        chosen, state = setting(params), first(params)
        rows += _things(params, state, 0)
        for number, entry in enumerate(schedule, 1):
            kind, who = entry.split()
            state = _taken(state, chosen, model.STEPS.index(kind) * 8 + int(who))
            rows += _things(params, state, number)
            # It writes at once, and the picture of the next step shows it.
            state = _taken(state, chosen, model.STEPS.index("rewrite") * 8 + 6)
    return pd.DataFrame(rows, columns=["step", "variant", "thing", "state", "words"])


def _taken(state: np.ndarray, chosen: np.ndarray, number: int) -> np.ndarray:
    """The state that a step leads to; the same one where it can't be taken."""
    following = np.empty((model.MOST_FOLLOWING, 3), U)
    steps = np.empty(model.MOST_FOLLOWING, U)
    n = int(MODEL.successors(state, following, steps, chosen))
    at = np.flatnonzero(steps[:n] == number)
    return following[at[0]].copy() if len(at) else state


def _things(
    params: Lifetimes, state: np.ndarray, step: int
) -> list[tuple[int, str, str, str, str]]:
    row = np.zeros(len(states.THINGS), U)
    states.cells(state, setting(params), row)
    return [
        (step, label(params.variant), thing, *states.state_of(thing, number))
        for thing, number in zip(states.THINGS, row.tolist(), strict=True)
        if number != states.ABSENT
    ]
