"""Ways through a send as they are told, and watched, and which invariants break by variant."""

from lorelab.gso.experiments import lifetimes
from lorelab.gso.pages import orders
from lorelab.gso.params import Lifetimes, Variant
from lorelab.params import label


def test_a_counterexample_reads_step_by_step():
    table = orders.counterexample(Lifetimes(variant=Variant.LAST_SEGMENT, segments=2), 1)
    assert table["who"].iloc[0] == "head"
    assert table["rewritten"].iloc[-1]
    assert "sent" in table["step"].iloc[-1]


def test_a_counterexample_shows_who_did_what_and_where_the_segments_are():
    """The last segment is dropped first: the sender is told while the other is in the ring."""
    table = orders.counterexample(Lifetimes(variant=Variant.LAST_SEGMENT, segments=2), 1)
    assert list(table["who"]) == ["head", "segment 1", "segment 2", "sender", "segment 1"]
    assert list(table["holders"]) == [1, 1, 0, 0, 0]
    assert list(table["head"]) == [0] * 5
    assert list(table["told"]) == [False, False, True, True, True]
    assert list(table["rewritten"]) == [False, False, False, True, True]
    assert list(table["segment 1"]) == ["qdisc", "ring", "ring", "ring", "gone"]
    assert list(table["segment 2"]) == ["qdisc", "qdisc", "gone", "gone", "gone"]
    two = orders.counterexample(
        Lifetimes(variant=Variant.SHARED_COUNT, segments=2, cpus=2, local=False), 5
    )
    assert {"CPU 0", "CPU 1"} <= set(two["who"])
    assert two["holders"].iloc[[0, -1]].to_list() == [3, 0]


def test_a_schedule_is_watched_by_each_variant():
    """The last segment leaves first: its sender is told and writes at once, a counted one waits."""
    table = orders.watch([Variant.LAST_SEGMENT, Variant.SHARED_COUNT])
    by = table.set_index(["variant", "thing", "step"])["words"].unstack()
    waits, told, writes = "waits", "told", "writes again"
    last, counted = by.loc["last-segment"], by.loc["shared-count"]
    assert list(last.loc["sender"]) == [*[waits] * 3, told, *[writes] * 4]
    assert list(counted.loc["sender"]) == [*[waits] * 7, told]
    assert list(last.loc["ubuf_info"]) == ["1", "1", "1", "0", "0", "0", "0", "0"]
    assert list(counted.loc["ubuf_info"]) == ["1", "3", "3", "2", "2", "1", "1", "0"]
    assert list(counted.loc["head"]) == ["1", *["0"] * 7]
    first = ["in the head", "lent pages", "lent pages", "lent pages"]
    assert list(last.loc["segment 1"]) == [*first, "wrong bytes", *["gone"] * 3]
    assert list(counted.loc["segment 1"]) == [*first, "lent pages", *["gone"] * 3]
    assert list(last.loc["segment 3"]) == [*first[:3], *["gone"] * 5]
    counts = table["thing"].isin(["ubuf_info", "head"])
    assert (table.loc[counts, "state"] == "a count").all()
    assert (table.loc[~counts, "state"] == table.loc[~counts, "words"]).all()
    copied = orders.watch([Variant.ORPHAN]).query("thing == 'segment 1' and step == 1")
    assert list(copied["words"]) == ["a copy"]


def test_every_way_by_variant():
    table = orders.verdicts([Variant.PARENT], clone=False, local=False, direct=False)
    assert list(table.index) == ["parent"]
    assert list(table.columns) == ["states", *(f"I{n}" for n in range(1, 10))]
    simple = Lifetimes(variant=Variant.PARENT, clone=False, local=False, direct=False)
    found = lifetimes.simulate(simple).set_index("counter")["value"]
    assert table.loc["parent", "states"] == found["states"]
    assert [table.loc["parent", f"I{n}"] for n in range(1, 10)] == [
        len(lifetimes.shortest(simple, n)) for n in range(1, 10)
    ]
    assert list(orders.verdicts(segments=1, clone=False).index) == [label(v) for v in Variant]
