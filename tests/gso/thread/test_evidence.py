"""What claims show as evidence, and what the findings say: each figure from where it comes."""

import pytest

from lorelab.experiments import experiment
from lorelab.gso.figures import figure
from lorelab.gso.model.layout import place
from lorelab.gso.model.structs import SHARED_INFO_2014
from lorelab.gso.pages import views
from lorelab.gso.params import Traffic, Variant, Vhost
from lorelab.gso.thread import checks
from lorelab.gso.thread.claims import CLAIMS, NOT_CLAIMED
from lorelab.gso.thread.findings import FINDINGS


def evidence(id):
    return next(claim for claim in CLAIMS + NOT_CLAIMED if claim.id == id).weigh().evidence


def said(name):
    return next(finding for finding in FINDINGS if finding.name == name).effect()


@pytest.mark.parametrize(("kernel", "printed"), [("base", 984), ("patched", 1220)])
def test_a_rate_is_volume_over_time(kernel, printed):
    found = evidence(f"{kernel}-bandwidth")
    assert found["printed Mbit/s"] == printed
    bits = figure(f"{kernel}-volume") * 2**30 * 8 / figure(f"{kernel}-seconds") / 1e6
    assert found["volume over time, lowest"] < bits < found["highest"]


def test_the_gain_is_of_the_printed_volumes():
    """Both take ten seconds, so the gain is that of the volumes, give or take a digit of each."""
    found = evidence("improvement")
    ratio = 100 * (figure("patched-volume") / figure("base-volume") - 1)
    assert ratio - 0.5 < found["lowest %"] < found["highest %"] < ratio + 0.5
    assert found["printed %"] == figure("improvement")
    assert found["and again %"] == figure("improvement-again")


def test_the_structs():
    before = place(SHARED_INFO_2014)
    assert evidence("base-size")["computed"] == hex(before.size)
    # Every place that leaves no hole gives the printed size; "none" is no place.
    places = evidence("patched-size")["places that give it"].split(", ")
    assert {"nr_frags", "destructor_arg", "end"} <= set(places)
    assert not {"none", "dataref", "gso_type"} & set(places)
    assert evidence("two-lines") == {"before": 1, "after": 2, "places that cost no line": "end"}
    assert evidence("more-than-one-line") == {
        **{"lines that it fills": before.size // 64},
        **{"touched without the pointer": 1, "with it": 2},
    }
    assert evidence("three-ways") == {"field": "destructor_arg", "bytes more in any struct": 0}


def test_the_memory_of_packets():
    found = evidence("all-truesizes")
    grow = [part.split(" to ") for part in found["sizes that grow"].split("; ")]
    sizes = sum(int(last) - int(first) + 1 for first, last in grow)
    assert found["share of sizes, __alloc_skb()"] == sizes / 4096
    assert found["share of sizes, netdev_alloc_skb()"] == 1
    assert evidence("special-case-pays") == {"bytes in every packet": 0, "patch as posted": 64}
    # A socket's buffer takes one packet beyond its size, so less than half of them are lost.
    assert 0.45 < evidence("other-workloads")["most packets fewer in a socket's buffer"] < 0.5
    assert evidence("moved-to-sk-buff") == {
        **{"slab before": 256, "slab after, most": 256},
        "steps to no end": 5,
    }


def test_references_of_pages_change_no_invariant():
    assert evidence("page-refs")["same traits as before 1fd819ec"] is True
    assert (
        evidence("page-refs")["steps to wrong bytes"]
        == evidence("corruption")["steps to wrong bytes"]
    )


def test_readings_that_do_not_hold_are_in_the_evidence():
    assert evidence("pointer-essential") == {
        "ways that copy nothing and are safe": 4,
        "of which segments point to what outlives them": 4,
        "merged, segments hold the parent": False,
    }
    found = evidence("after-all-fragments")
    assert found["invariants kept there"] == "I1, I2, I3, I4, I5, I6, I9"
    assert found["with a clone, steps to a completion too early"] == 7
    assert found["with __kfree_skb(), steps to none"] == 5


def test_the_count_says_how_many_cpus():
    found = evidence("shared-count")
    assert found["invariants kept on one CPU"] == 9
    assert [name for name in found if "two CPUs" in name] == ["steps to break I5 on two CPUs"]
    assert found["steps to break I7 at a queue without skb_orphan_frags_rx()"] > 0
    assert found["steps to break I5 over a card without scatter-gather"] > 0


def test_a_win_is_that_of_the_recorded_sends():
    spent = views.instructions()
    less = [
        100 * (1 - row["shared-count"] / row["orphan"])
        for length, row in spent.iterrows()
        if length > 1400
    ]
    found = evidence("still-a-win")
    assert (found["fewer %, least"], found["most"]) == (min(less), max(less))
    assert len(less) == 6 and min(less) > 0


@pytest.mark.parametrize("count", [11_640, 11_641])
def test_a_send_that_takes_as_many_is_no_win(monkeypatch, count):
    spent = views.instructions()
    spent.loc[2800, ["shared-count", "orphan"]] = count, 11_641
    monkeypatch.setattr(views, "instructions", lambda: spent)
    expected = "holds" if count < 11_641 else "contradicted"
    assert checks.weigh_still_a_win().verdict == expected


def counted(name, params):
    return experiment(name).recorded(params).counters.set_index("counter")["value"]


def test_findings_give_the_recorded_figures():
    before, after = (counted("gso/vhost", Vhost(refcnt=refcnt)) for refcnt in (False, True))
    text = said("vhost-copies")
    assert f"of {before['told']} packets" in text
    assert f"vhost sends {before['completions']} with zero copy, and" in text
    assert f"copied ({before['copied_bytes']} bytes)" in text
    assert f"back once each after {after['completions']} completions, and 0 segments" in text
    assert text.endswith("7.3.4+deb13-amd64 copies 56000 bytes of the same packets")
    late, early = (
        counted("gso/traffic", Traffic(received=True, variant=variant))["copies"]
        for variant in (Variant.SHARED_COUNT, Variant.ORPHAN)
    )
    assert said("copied-late").startswith(
        f"{late} calls of skb_copy_ubufs() instead of {early} for the same bytes, and "
        # 40 segments with a page each, or 56000 bytes in pages of 4096.
        "40 pages a packet instead of 14 "
    )


def test_findings_of_the_model():
    assert " 2 of 6 interleavings" in said("lost-copied-flag")
    assert "with the patch 0 (" in said("lost-copied-flag")
    assert "If the first is zero copy, 0 of 4 copies are reported" in said("one-word-for-many")
    assert "copied, 8 sends are reported as copied where 4 were" in said("one-word-for-many")
    assert " 0 of 64 UDP sends complete" in said("unread-macvtap")
    assert "64 complete, as copied, and 0 pages stay" in said("unread-macvtap")
    assert "macvtap and ipvtap: 64 complete, 0 pages stay, 0 further" in said("unread-macvtap")
    raw = said("unread-router-alert")
    assert "of 64 UDP sends" in raw
    assert "6.12.117 completes 64, as copied, and 0 pages stay" in raw
    assert "7.3.4 completes 0, and 64 pages and 1 network namespace stay" in raw
    assert "8 are reported as copied in the first case too" in said("one-word-for-many")
    assert "and 136 of them fit into the default optmem_max" in said("one-word-for-many")
