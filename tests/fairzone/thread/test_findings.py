"""Findings are computed, their commands are parameters that exist, and they move with the model."""

import shlex

import pandas as pd
import pytest

from lorelab.experiments import experiment
from lorelab.fairzone.model.zones import COUNTS
from lorelab.fairzone.pages import answers, node_hits
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.thread import findings
from lorelab.fairzone.thread.findings import FINDINGS
from lorelab.params import parse


@pytest.mark.parametrize("one", FINDINGS, ids=lambda one: one.name)
def test_its_command_is_one(one):
    door, name, *rest = shlex.split(one.command)
    asked = experiment(name)
    assert asked.simulate if door == "model" else "kernel" in asked.backends
    given = dict(pair.split("=") for flag, pair in zip(rest[::2], rest[1::2], strict=True) if flag)
    assert parse(asked.Params, given)


def test_v1_never_resets_where_dma_cannot_serve():
    said = findings.never_resets()
    assert "0 resets with v1, 0 with its repair and 2.00 passes" in said
    reachable = answers.repairs(Tiobench()).loc["v1, asks reachable zones", "passes"]
    assert 1 <= reachable < 1.1
    assert f"; {reachable:.2f} if zones that can't serve are not asked" in said
    least = answers.dma_is_out_from(Tiobench())
    assert f"from {least} MiB" in said
    for mib, resets in ((least // 2, True), (least, False)):
        small = answers.ran(Tiobench(variant=Variant.V1, mib=mib, data_percent=100))
        assert (small.count[:, COUNTS.index("resets")].sum() > 0) == resets


def test_another_model_says_otherwise(monkeypatch):
    hits = pd.DataFrame(
        {"baseline": [1.0, 2.0, 3.0], "v1": [4.0, 2.0, 6.0]},
        index=["as posted", "caches dropped", "80 % of memory"],
    )
    monkeypatch.setattr(answers, "read_back", lambda params: hits)
    assert findings.read_back().startswith(
        "v1 finds 4.0 % of the reads cached and the baseline 1.0"
    )
    assert "v1 reads 94.0 % from the disk" in findings.what_fits()


def test_each_names_the_message_that_said_it_first():
    known = {one.name: " ".join(one.prior_art.reports) for one in FINDINGS}
    assert "20140702154439.GE1369@cmpxchg.org" in known["benchmark-reads-back"]
    assert "20140702155347.GA10819@suse.de" in known["benchmark-reads-back"]
    assert "1403683129-10814-5" in known["v1-never-resets"], "ZONE_DMA left out on 25 June"
    for name in ("nap-refills-one-zone", "v1-evicts-what-fits"):
        assert "1307.2/04202" in known[name], "kernels without a policy, 2013"
    assert "20140701212538.GD1369@cmpxchg.org" in known["v1-evicts-what-fits"]


def test_the_nap_says_what_two_nodes_find(monkeypatch):
    said = findings.on_two_nodes()
    assert "19.3 to 23.1 %" in said and "6 runs of 2 boots" in said and "; 0 % with" in said
    table = node_hits.unpatched()
    monkeypatch.setattr(node_hits, "unpatched", lambda: table.assign(**{"hits, max": 50.0}))
    assert "19.3 to 50.0 %" in findings.on_two_nodes()
    assert "; 50 % with the reader beside ZONE_DMA (3 runs)" in findings.on_two_nodes()
