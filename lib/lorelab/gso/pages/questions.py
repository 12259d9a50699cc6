"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.gso.experiments.traffic import simulate
from lorelab.gso.params import Traffic


def short() -> tuple[pd.DataFrame, str]:
    """Packets with wrong bytes where the head alone knows the sender, by the length of a send."""
    shown = ["told", "sent", "wrong", "segmentations"]
    lengths = {
        n: simulate(Traffic(variant="head-only", held=True, length=n)).set_index("counter")["value"]
        for n in (56000, 2800, 1400)
    }
    short = pd.DataFrame(lengths).T[shown].rename_axis("length")
    table = short
    assert (short.loc[[56000, 2800], "wrong"] == short.loc[[56000, 2800], "sent"]).all()
    return table, (
        f"{short.loc[1400, 'wrong']} of {short.loc[1400, 'sent']} packets are wrong: nothing is "
        "segmented, and the head is all there is. With two segments a send, "
        f"{short.loc[2800, 'wrong']} of {short.loc[2800, 'sent']} are."
    )


def dropped() -> tuple[pd.DataFrame, str]:
    """Who is told where a qdisc drops one segment in ten."""
    variants = ("head-only", "page-refs", "orphan", "shared-count")
    lossy = pd.DataFrame(
        {
            variant: simulate(Traffic(variant=variant, held=True, loss=10)).set_index("counter")[
                "value"
            ]
            for variant in variants
        }
    ).T[["told", "copied", "sent", "wrong"]]
    table = lossy.rename_axis("variant")
    assert set(lossy["told"]) == {Traffic().sends}
    wrong = list(lossy.index[lossy["wrong"] > 0])
    return table, (
        f"All four report all {Traffic().sends} sends: a dropped segment gives up its pages as "
        f"a sent one does. They differ in *when*: {' and '.join(wrong)} report while segments "
        "wait, so what the sender writes next is what is sent."
    )


def heard() -> tuple[pd.DataFrame, str]:
    """Copies where a packet socket takes every packet."""
    heard = pd.DataFrame(
        {
            variant: simulate(Traffic(variant=variant, tap=True)).set_index("counter")["value"]
            for variant in ("orphan", "shared-count")
        }
    ).T[["copied", "copies", "copied_bytes"]]
    table = heard.rename_axis("variant")
    one, other = heard.loc["orphan"], heard.loc["shared-count"]
    assert one["copied_bytes"] == other["copied_bytes"]
    return table, (
        f"The same {one['copied_bytes']:,} bytes, in {one['copies']} copies or in "
        f"{other['copies']}: `orphan` copies the packet before it is segmented, "
        "`shared-count` each segment when the packet socket takes it. "
        "Both report to the sender that all was copied."
    )
